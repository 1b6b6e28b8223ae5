import { Socket } from "node:net";
import { type Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { Agent, buildConnector, request, stream } from "undici";
import type { ByteRange } from "./byte-range-domain.ts";
import { ReadBuffers } from "./read-buffers-store.ts";
import { detach } from "./spent-memory-store.ts";

const CONNECT_TIMEOUT_MS = 5_000;
const RESPONSE_TIMEOUT_MS = 45_000;
const LONGEST_REFUSAL = 16 * 1024;

/** The store refused the request. `code` is S3's code, for example `BadDigest`. */
export class S3Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, body: string) {
    const code = /<Code>([^<]{1,100})<\/Code>/.exec(body)?.[1] ?? "";
    super(`the store responded with ${status} ${code}`);
    this.name = "S3Refusal";
    this.status = status;
    this.code = code;
  }
}

export interface TransferOptions {
  /** The certificate authorities that TLS trusts, as PEM. Default: those of Node. */
  authorities?: readonly string[] | undefined;
  /**
   * Time limit in ms for two waits: for the store's response after the last byte of a request, and for the next part of
   * a response.
   */
  silenceMs?: number | undefined;
}

/** Transfers bodies to and from presigned URLs in constant memory. */
export class S3Transfer implements AsyncDisposable {
  readonly #buffers = new ReadBuffers();
  readonly #silenceMs: number;
  readonly #agent: Agent;

  constructor({ authorities, silenceMs = RESPONSE_TIMEOUT_MS }: TransferOptions = {}) {
    this.#silenceMs = silenceMs;
    this.#agent = new Agent({
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      connect: connector(this.#buffers, authorities),
    });
  }

  /** Sends `body` to the URL. Throws `S3Refusal`, the body's own error, or a network error. */
  async send(
    url: string,
    body: Readable,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<void> {
    const silence = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    // The time limit for the store's response starts after the last byte of the body. Until then, a slow client may be
    // the cause of the wait; the object handler limits how long a client may take.
    body.once("end", () => {
      timer = setTimeout(
        () => silence.abort(new Error("the store does not respond")),
        this.#silenceMs,
      );
    });
    try {
      const answer = await request(url, {
        method: "PUT",
        dispatcher: this.#agent,
        headers,
        body,
        headersTimeout: 0,
        signal: AbortSignal.any([signal, silence.signal]),
      });
      if (answer.statusCode >= 300) throw new S3Refusal(answer.statusCode, await text(answer.body));
      await answer.body.dump();
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Receives the body of a response into the writable that `open` returns. Throws `S3Refusal`, the error of `open`, or
   * a network error.
   */
  async receive(
    url: string,
    open: (size: number) => Writable,
    signal: AbortSignal,
    range?: ByteRange,
  ): Promise<void> {
    const headers = range ? { range: `bytes=${range.start}-${range.end}` } : {};
    let refusal: { status: number; text: TextSink } | undefined;
    await stream(
      url,
      { method: "GET", dispatcher: this.#agent, headers, signal },
      ({ statusCode, headers }) => {
        const size = range
          ? sizeAround(range, headers["content-range"])
          : headers["content-length"];
        if (statusCode === (range ? 206 : 200) && typeof size === "string") {
          return this.#recycling(open(Number(size)));
        }
        refusal = { status: statusCode, text: new TextSink() };
        return refusal.text;
      },
    );
    if (refusal) throw new S3Refusal(refusal.status, refusal.text.value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }

  /**
   * Returns a sink that passes chunks to `target` and releases the buffer of each after it is written. This is safe
   * because no two chunks share a buffer: if the length of the body is known, each read from the socket arrives as
   * exactly one chunk.
   */
  #recycling(target: Writable): Writable {
    const sink = new Writable({
      highWaterMark: 1024 * 1024,
      write: (chunk: Uint8Array, _encoding, done) => {
        target.write(chunk, (error) => {
          this.#buffers.release(chunk);
          done(error);
        });
      },
      final: (done) => {
        target.end(done);
      },
      destroy: (error, done) => {
        if (!target.writableFinished) target.destroy();
        done(error);
      },
    });
    target.once("error", (error) => sink.destroy(error));
    target.once("close", () => {
      if (!target.writableFinished) sink.destroy(new Error("the reader has disconnected"));
    });
    return sink;
  }
}

/**
 * Returns the size of the complete blob from a Content-Range header; undefined unless the header names the requested
 * range.
 */
function sizeAround({ start, end }: ByteRange, header: unknown): string | undefined {
  const expected = `bytes ${start}-${end}/`;
  return typeof header === "string" && header.startsWith(expected)
    ? header.slice(expected.length)
    : undefined;
}

class TextSink extends Writable {
  value = "";

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.value.length < LONGEST_REFUSAL) this.value += chunk.toString("latin1");
    done();
  }
}

/** Calls `detach` for each chunk when the chunk has been sent. */
class FreeingSocket extends Socket {
  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void) {
    super._write(chunk, encoding, (error) => {
      if (typeof chunk !== "string") detach(chunk);
      done(error);
    });
  }

  override _writev(
    chunks: { chunk: Buffer; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ) {
    super._writev?.(chunks, (error) => {
      for (const { chunk } of chunks) if (typeof chunk !== "string") detach(chunk);
      done(error);
    });
  }
}

/**
 * Makes plain connections read into reused buffers. TLS connections do not use such buffers, because decryption costs
 * more than they would save.
 */
function connector(
  buffers: ReadBuffers,
  authorities: readonly string[] | undefined,
): buildConnector.connector {
  const trusted = authorities ? { ca: [...authorities] } : {};
  const plainOrTls = buildConnector({ timeout: CONNECT_TIMEOUT_MS, ...trusted });
  return (options, callback) => {
    if (options.protocol !== "http:") {
      plainOrTls(options, callback);
      return;
    }
    const socket: Socket = new FreeingSocket({
      noDelay: true,
      onread: {
        buffer: () => buffers.take(),
        callback: (length, memory) =>
          socket.push(Buffer.from(memory.buffer, memory.byteOffset, length)),
      },
    });
    const late = () => socket.destroy(new Error("connecting to the store took too long"));
    const failed = (error: Error) => callback(error, null);
    socket.setTimeout(CONNECT_TIMEOUT_MS, late);
    socket.once("error", failed);
    socket.connect({ host: options.hostname, port: Number(options.port || 80) });
    socket.once("connect", () => {
      socket.setTimeout(0);
      socket.off("timeout", late);
      socket.off("error", failed);
      callback(null, socket);
    });
  };
}
