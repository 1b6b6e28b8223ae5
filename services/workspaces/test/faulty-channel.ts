import { unavailable } from "@statehouse/errors";
import type { Channel } from "@statehouse/rpc";

/** The part of a call that is lost: the request or the response. */
export type Loss = "request" | "answer";

/** A gRPC channel to a real service. A test can count, lose and delay its calls by method name (`SetPlacement`). */
export interface FaultyChannel extends Channel {
  connect(target: Channel): void;
  /** Loses the requests or the responses of the method's calls until the returned function is called. */
  lose(method: string, what: Loss): () => void;
  /**
   * Delays the next call of the method. Resolves when the call arrives, with a function that lets the call continue.
   */
  holdUp(method: string): Promise<() => void>;
  /** Returns the number of calls of the method. */
  calls(method: string): number;
  /** Returns the deadline of the method's last call, in epoch ms; 0 if there is none. */
  deadlineOf(method: string): number;
}

export function faultyChannel(audience: string): FaultyChannel {
  let target: Channel | undefined;
  const losses = new Map<string, Loss>();
  const arrivals = new Map<string, (resume: () => void) => void>();
  const counts = new Map<string, number>();
  const deadlines = new Map<string, number>();
  const lost = () => unavailable("lost", `The ${audience} service does not answer.`);
  return {
    audience,
    connect: (channel) => {
      target = channel;
    },
    lose(method, what) {
      losses.set(method, what);
      return () => void losses.delete(method);
    },
    holdUp: (method) => new Promise((resolve) => arrivals.set(method, resolve)),
    calls: (method) => counts.get(method) ?? 0,
    deadlineOf: (method) => deadlines.get(method) ?? 0,
    async call(method, request, metadata) {
      counts.set(method.name, (counts.get(method.name) ?? 0) + 1);
      deadlines.set(method.name, metadata.deadline);
      const arrived = arrivals.get(method.name);
      if (arrived) {
        arrivals.delete(method.name);
        await new Promise<void>((resume) => arrived(resume));
      }
      const loss = losses.get(method.name);
      if (!target || loss === "request") throw lost();
      const answer = await target.call(method, request, metadata);
      if (loss === "answer") throw lost();
      return answer;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
