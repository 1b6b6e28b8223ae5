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
  const chunks = createChunks();
  let size = 0;
  let isOver = false;
  const fail = (error: Error) => {
    if (isOver) return;
    isOver = true;
    chunks.clear();
    reject(error);
  };
  // After an error the rest of the body is read and discarded, so that the client receives the response.
  request.on("data", (chunk: Buffer) => {
    if (isOver) return;
    size += chunk.length;
    if (size > limit) fail(bodyTooLarge(limit));
    else if (memory.take(chunk.length)) chunks.add(chunk);
    else fail(tooManyBodies());
  });
  request.once("end", () => {
    isOver = true;
    resolve(chunks.join(size));
  });
  request.once("close", () => fail(badRequest("body", "The request body ended too early.")));
  limitReceiving(request, timeoutMs, () => {
    if (isOver) request.destroy();
    else fail(bodyTooLate());
  });
  if (Number(request.headers["content-length"]) > limit) fail(bodyTooLarge(limit));
  return promise;
}

/** Number of chunks that are kept without copying them. Most bodies have fewer chunks. */
const FIRST_CHUNKS = 16;
const BLOCK_BYTES = 64 * 1024;

/**
 * Collects the chunks of a body. All chunks but the first ones are copied into blocks, because a chunk uses about 100
 * bytes of memory besides its content, and a client can send a large body in chunks of one byte.
 */
function createChunks() {
  let parts: Buffer[] = [];
  let block = Buffer.alloc(0);
  let used = 0;
  const closeBlock = () => {
    if (used > 0) parts.push(block.subarray(0, used));
    used = 0;
  };
  return {
    add(chunk: Buffer): void {
      if (parts.length < FIRST_CHUNKS || chunk.length >= BLOCK_BYTES) {
        closeBlock();
        parts.push(chunk);
        return;
      }
      if (used === 0 || used + chunk.length > block.length) {
        closeBlock();
        block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      }
      used += chunk.copy(block, used);
    },
    join(size: number): Buffer<ArrayBuffer> {
      closeBlock();
      return Buffer.concat(parts, size);
    },
    clear(): void {
      parts = [];
      block = Buffer.alloc(0);
      used = 0;
    },
  };
}
