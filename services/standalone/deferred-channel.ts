import { unavailable } from "@statehouse/errors";
import type { Channel } from "@statehouse/rpc";

/** A channel that is connected only after its clients are created, because services call each other in a cycle. */
export interface DeferredChannel extends Channel {
  connect(channel: Channel): void;
}

/** Creates a channel whose calls throw `unavailable` until it is connected. */
export function deferredChannel(audience: string): DeferredChannel {
  let target: Channel | undefined;
  return {
    audience,
    connect: (channel) => {
      target = channel;
    },
    call: async (method, request, metadata) => {
      if (!target) {
        throw unavailable("service_unavailable", `The ${audience} service has not started yet.`);
      }
      return target.call(method, request, metadata);
    },
    [Symbol.asyncDispose]: async () => {
      await target?.[Symbol.asyncDispose]();
    },
  };
}
