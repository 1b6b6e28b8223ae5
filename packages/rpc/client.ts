import {
  create,
  type DescMessage,
  type DescService,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { deadlineExceeded } from "@statehouse/errors";
import { remainingMs, traceparent, withClientSpan } from "@statehouse/runtime";
import type { CallOptions } from "./assertion.ts";
import type { Channel } from "./channel.ts";
import { blame } from "./error.ts";
import { methodPath } from "./service.ts";

let calls = 0;

/** Returns the number of calls from this process to other services, including calls to services in the same process. */
export const callCount = (): number => calls;

/** Time limit of calls that are made outside any request, in ms. */
const DEFAULT_TIMEOUT_MS = 10_000;

/** One function for each method of the service. Each throws the service's AppError. */
export type Client<S extends DescService> = {
  [M in keyof S["method"]]: (
    request: MessageInitShape<S["method"][M]["input"]>,
    as?: CallOptions,
  ) => Promise<MessageShape<S["method"][M]["output"]>>;
};

/**
 * Creates a client of `desc` over `channel`. Calls are made as `identity` unless the call specifies another identity.
 * They end at the deadline of the request during which they are made.
 */
export function createClient<S extends DescService>(
  desc: S,
  channel: Channel,
  identity?: CallOptions,
): Client<S> {
  const methods = desc.methods.map((method) => {
    const path = methodPath(method);
    const attributes = { "rpc.system": "grpc", "rpc.method": path.slice(1) };
    const call = (request: MessageInitShape<DescMessage>, as: CallOptions | undefined = identity) =>
      withClientSpan(path.slice(1), attributes, async () => {
        if (!as) throw new Error(`${path} was called without an identity`);
        const left = remainingMs() ?? DEFAULT_TIMEOUT_MS;
        if (left <= 0) throw deadlineExceeded();
        calls++;
        const metadata = {
          assertion: await as.assertion(channel.audience),
          traceparent: traceparent(),
          clientAddress: as.clientAddress,
          deadline: Date.now() + left,
        };
        try {
          return await channel.call(method, create(method.input, request), metadata);
        } catch (error) {
          blame(error, channel.audience);
          throw error;
        }
      });
    return [method.localName, call] as const;
  });
  return Object.fromEntries(methods) as unknown as Client<S>;
}
