import {
  type DescMessage,
  type DescMethod,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { deadlineExceeded, unavailable } from "@statehouse/errors";
import { nextTurn, withTimeout } from "@statehouse/runtime";
import type { CallHandler, Channel } from "./channel.ts";
import { MessageTooLarge } from "./error.ts";
import { isTransferable } from "./transferable.ts";

/** Called for every message that is passed without encoding. */
export type Inspect = (desc: DescMessage, message: Message) => void;

let inspect: Inspect | undefined;

/** Sets a function that examines the messages that are passed without encoding. Only tests use it. */
export function inspectMessages(examine: Inspect): void {
  inspect = examine;
}

/**
 * Opens a channel to a service in this process. A message for which `isTransferable` returns true is passed without
 * encoding, because encoding would not change it. Every other message is encoded and decoded, so that this channel
 * transfers the same values as gRPC (ADR 70).
 */
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
    const passed = passes(method.input, request) ? request : toBinary(method.input, request);
    if (passed instanceof Uint8Array && passed.length > handler.maxRequestBytes) {
      await handler.admit(metadata);
      throw new MessageTooLarge(
        `${audience}: Received message larger than max (${passed.length} vs ${handler.maxRequestBytes})`,
      );
    }
    // The caller stops waiting at its deadline, in the same way as over gRPC.
    const answer = await withTimeout(
      Math.max(0, metadata.deadline - Date.now()),
      handler.handle<Message | Uint8Array>(
        metadata,
        () => (passed instanceof Uint8Array ? fromBinary(method.input, passed) : passed),
        (message) => (passes(method.output, message) ? message : toBinary(method.output, message)),
      ),
      () => deadlineExceeded(`The ${audience} service`),
    );
    if (!(answer instanceof Uint8Array)) return answer;
    // The caller decodes an encoded message in a separate turn of the event loop, as if it came from another process.
    await nextTurn();
    return fromBinary(method.output, answer);
  },
  [Symbol.asyncDispose]: async () => {},
});

function passes(desc: DescMessage, message: Message): boolean {
  if (!isTransferable(desc, message)) return false;
  inspect?.(desc, message);
  return true;
}
