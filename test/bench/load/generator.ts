import { Client, type Dispatcher } from "undici";
import type { LoadPlan, LoadResult, PlannedRequest } from "./plan.ts";

// The load generator runs in a separate process, so that its CPU time is not counted as the server's. It uses undici's
// `dispatch`, which needs little CPU time: generator and server share two cores, so CPU time that the generator uses is
// not available to the server.
process.on("message", (plan: LoadPlan) => {
  void generate(plan).then((result) => process.send?.(result));
});
process.on("disconnect", () => process.exit(0));

async function generate(plan: LoadPlan): Promise<LoadResult> {
  const latencies: number[] = [];
  const seen = { bytes: 0, failures: 0, firstFailure: "" };
  const clients = plan.connections.map(() => new Client(plan.origin, { pipelining: 1 }));
  const cpuAtStart = process.cpuUsage();
  const startedAt = performance.now();
  const end = startedAt + plan.seconds * 1000;
  await Promise.all(
    plan.connections.map((requests, index) =>
      cycle(requests, {
        dispatch: (options, handler) => clients[index]?.dispatch(options, handler),
        headers: plan.headers,
        pauseMs: plan.pauseMs ?? 0,
        end,
        answered: (ms, bytes) => {
          latencies.push(ms);
          seen.bytes += bytes;
        },
        failed: (reason) => {
          if (seen.failures++ === 0) seen.firstFailure = reason;
        },
      }),
    ),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuAtStart);
  await Promise.all(clients.map((client) => client.destroy()));
  return {
    seconds,
    latencies: Float64Array.from(latencies),
    bytes: Math.round(seen.bytes / Math.max(1, latencies.length)),
    failures: seen.failures,
    ...(seen.failures > 0 ? { firstFailure: seen.firstFailure } : {}),
    cpuMicros: user + system,
  };
}

interface Connection {
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  headers: Record<string, string>;
  pauseMs: number;
  /** When to stop, as a time of `performance.now()`. */
  end: number;
  answered(ms: number, bytes: number): void;
  failed(reason: string): void;
}

/**
 * Repeats the requests until the time is over. Ends only after the last request of a cycle, so that every lock is
 * released.
 */
function cycle(requests: readonly PlannedRequest[], connection: Connection): Promise<void> {
  return new Promise((resolve) => {
    const send = (index: number): void => {
      const request = requests[index % requests.length];
      if (!request || (index % requests.length === 0 && performance.now() >= connection.end)) {
        resolve();
        return;
      }
      const { method, path, body, headers = connection.headers, expect } = request;
      const sentAt = performance.now();
      let status = 0;
      let bytes = 0;
      const done = (problem?: string) => {
        if (problem === undefined) connection.answered(performance.now() - sentAt, bytes);
        else connection.failed(`${method} ${path}: ${problem}`);
        if (connection.pauseMs === 0) send(index + 1);
        else setTimeout(() => send(index + 1), connection.pauseMs);
      };
      connection.dispatch(
        { method, path, headers, body: body ?? null },
        {
          onRequestStart() {},
          onResponseStart(_controller, statusCode) {
            status = statusCode;
          },
          onResponseData(_controller, chunk) {
            bytes += chunk.length;
          },
          onResponseEnd() {
            done(status === expect ? undefined : `answered ${status}`);
          },
          onResponseError(_controller, error) {
            // Waits a little, to prevent a busy loop if a server refuses connections.
            setTimeout(() => done(String(error)), 50);
          },
        },
      );
    };
    send(0);
  });
}
