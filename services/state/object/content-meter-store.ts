import { createHash, type Hash } from "node:crypto";
import { IncomingMessage } from "node:http";
import { type Readable, Transform, type TransformCallback } from "node:stream";
import { md5Mismatch } from "../errors-domain.ts";
import { contentTruncated } from "./errors-store.ts";
import { markDetachable } from "./spent-memory-store.ts";
import type { ExpectedContent, StoredBlob } from "./store.ts";

/**
 * Buffer size. It is large enough for several chunks on each side, so that client and store do not wait for each other
 * at every chunk.
 */
const BUFFERED_BYTES = 512 * 1024;

/**
 * Passes a body through and computes its digests. Holds back the last chunk until the length is verified and, unless
 * the store verifies the md5, until the md5 is verified. The store therefore never receives the whole of a body that is
 * found to be invalid.
 */
export class ContentMeter extends Transform {
  readonly #expected: ExpectedContent;
  readonly #sha256 = createHash("sha256");
  /** Undefined if the store verifies the md5, or if the md5 is not needed: it costs twice as much as sha256. */
  readonly #md5: Hash | undefined;
  #ownsChunks = false;
  #received = 0;
  #held: Buffer | undefined;
  #digests: StoredBlob | undefined;

  constructor(expected: ExpectedContent, { md5 }: { md5: "computed" | "proven elsewhere" }) {
    super({ highWaterMark: BUFFERED_BYTES });
    this.#expected = expected;
    this.#md5 = md5 === "computed" ? createHash("md5") : undefined;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#received += chunk.length;
    if (this.#received > this.#expected.size) {
      done(contentTruncated(this.#expected.size, this.#received));
      return;
    }
    if (this.#ownsChunks) markDetachable(chunk);
    this.#sha256.update(chunk);
    this.#md5?.update(chunk);
    const previous = this.#held;
    this.#held = chunk;
    done(null, previous);
  }

  override _flush(done: TransformCallback): void {
    const { size, md5: expectedMd5 } = this.#expected;
    if (this.#received !== size) {
      done(contentTruncated(size, this.#received));
      return;
    }
    const md5 = this.#md5?.digest("hex") ?? expectedMd5 ?? "";
    if (expectedMd5 !== undefined && md5 !== expectedMd5) {
      done(md5Mismatch());
      return;
    }
    this.#digests = { size, sha256: this.#sha256.digest("hex"), md5 };
    done(null, this.#held);
  }

  /** Digests of the complete body, available after it has passed through. */
  get digests(): StoredBlob {
    if (!this.#digests) throw new Error("the body has not been read to its end");
    return this.#digests;
  }

  /** Passes `body` through. An error of the body destroys the meter; an error of the meter leaves the body open. */
  measure(body: Readable): this {
    // Node's HTTP parser allocates separate memory for each chunk of a body. The memory of a chunk can therefore be
    // freed after use.
    this.#ownsChunks = body instanceof IncomingMessage;
    const broke = (cause?: Error) => {
      if (body.readableEnded) return;
      const error = contentTruncated(this.#expected.size, this.#received);
      error.cause = cause;
      this.destroy(error);
    };
    body.once("error", broke);
    body.once("close", broke);
    this.once("close", () => {
      body.off("error", broke);
      body.off("close", broke);
      // The body can fail after all other listeners were removed; an 'error' event without a listener would crash the
      // process.
      body.on("error", () => {});
      body.unpipe(this);
    });
    if (body.destroyed) queueMicrotask(broke);
    return body.pipe(this);
  }
}
