import type { IncomingMessage } from "node:http";
import { badRequest } from "@statehouse/errors";
import { limitReceiving } from "@statehouse/runtime";
import type { BodyLease } from "./body-memory.ts";
import { bodyTooLarge, bodyTooLate, tooManyBodies } from "./errors.ts";

export interface Receiving {
  /** The maximum size of the body in bytes. */
  limit: number;
  /** The time limit in ms; see `limitReceiving`. */
  timeoutMs: number;
  memory: BodyLease;
}

/**
 * Receives a body. Throws 413 if it is too large, 408 if it arrives too late, `badRequest` if it ends too early, and
 * `unavailable` if the memory for bodies is in use.
 */
export function receiveBody(
  request: IncomingMessage,
  { limit, timeoutMs, memory }: Receiving,
): Promise<Buffer<ArrayBuffer>> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer<ArrayBuffer>>();
  const chunks: Buffer[] = [];
  let size = 0;
  let isOver = false;
  const fail = (error: Error) => {
    if (isOver) return;
    isOver = true;
    chunks.length = 0;
    reject(error);
  };
  // After an error the rest of the body is read and discarded, so that the client receives the response.
  request.on("data", (chunk: Buffer) => {
    if (isOver) return;
    size += chunk.length;
    if (size > limit) fail(bodyTooLarge(limit));
    else if (memory.take(chunk.length)) chunks.push(chunk);
    else fail(tooManyBodies());
  });
  request.once("end", () => {
    isOver = true;
    resolve(Buffer.concat(chunks, size));
  });
  request.once("close", () => fail(badRequest("body", "The request body ended too early.")));
  limitReceiving(request, timeoutMs, () => {
    if (isOver) request.destroy();
    else fail(bodyTooLate());
  });
  if (Number(request.headers["content-length"]) > limit) fail(bodyTooLarge(limit));
  return promise;
}
