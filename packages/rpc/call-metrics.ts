import { status } from "@grpc/grpc-js";
import { AppError } from "@statehouse/errors";
import { durationHistogram } from "@statehouse/runtime";
import { codeOf } from "./error.ts";

/** Records the duration of a call by its method and gRPC status code. Throws what `call` throws. */
export type MeasureCall = <T>(method: string, call: () => Promise<T>) => Promise<T>;

const descriptions = {
  client: "Duration of calls to other services, retries included",
  server: "Duration of calls from other services",
} as const;

/** Creates the histogram of call durations for one side of the calls: the client's or the server's. */
export function callDurations(side: keyof typeof descriptions): MeasureCall {
  const durations = durationHistogram("statehouse/rpc", {
    name: `statehouse_rpc_${side}_duration_seconds`,
    description: descriptions[side],
  });
  return async (method, call) => {
    const startedAt = performance.now();
    const record = (code: status) =>
      durations.record((performance.now() - startedAt) / 1000, {
        method,
        code: status[code] ?? "UNKNOWN",
      });
    try {
      const result = await call();
      record(status.OK);
      return result;
    } catch (error) {
      record(error instanceof AppError ? codeOf(error) : status.INTERNAL);
      throw error;
    }
  };
}
