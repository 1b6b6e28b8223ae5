import { type DescMethod, fromBinary, toBinary } from "@bufbuild/protobuf";
import { deadlineExceeded, unavailable } from "@statehouse/errors";
import { nextTurn, withTimeout } from "@statehouse/runtime";
import type { Channel } from "./channel.ts";
import { MessageTooLarge } from "./error.ts";
import type { CallHandler } from "./handler.ts";

/** Size in bytes of a message that takes milliseconds to decode. */
const LARGE_BYTES = 128 * 1024;

/** Opens a channel to a service in this process. Messages are encoded and decoded as for gRPC (ADR 5). */
export const inProcessChannel = (
  audience: string,
  handlerOf: (method: DescMethod) => CallHandler | undefined,
): Channel => ({
  audience,
  async call(method, request, metadata) {
    const handler = handlerOf(method);
    if (!handler) {
      throw unavailable("service_unavailable", `The ${audience} service does not answer.`);
    }
    const encoded = toBinary(method.input, request);
    if (encoded.length > handler.maxRequestBytes) {
      await handler.admit(metadata);
      throw new MessageTooLarge(
        `${audience}: Received message larger than max (${encoded.length} vs ${handler.maxRequestBytes})`,
      );
    }
    // The caller stops waiting at its deadline, in the same way as over gRPC.
    const answer = await withTimeout(
      Math.max(0, metadata.deadline - Date.now()),
      handler.handle(
        metadata,
        () => fromBinary(method.input, encoded),
        (message) => toBinary(method.output, message),
      ),
      () => deadlineExceeded(`The ${audience} service`),
    );
    // The caller decodes a large message in a separate turn of the event loop, as if it came from another process.
    if (answer.length > LARGE_BYTES) await nextTurn();
    return fromBinary(method.output, answer);
  },
  [Symbol.asyncDispose]: async () => {},
});
