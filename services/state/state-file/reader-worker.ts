import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { withTimeout } from "@statehouse/runtime";
import { move, Piscina, transferableSymbol, valueSymbol } from "piscina";
import { StateFileError, StateReadingError } from "../extraction/domain.ts";
import type { DigestKey } from "../state-digest/domain.ts";
import type { PackedExtraction } from "./packed-extraction-domain.ts";

/** A message to the thread: bytes of a state, or its end with the key of its digests. */
export type ReaderMessage = Uint8Array | { digestKey: DigestKey };
/** The result of the thread. */
export type ReaderAnswer = { extraction: PackedExtraction } | { fault: string };

export interface StateReaderLimits {
  /** Heap limit of the thread, in MiB. A state that needs more memory ends the thread but not the process. */
  heapMiB?: number;
  /** Time in ms within which the thread must take a message. */
  silenceMs?: number;
}

/**
 * A thread that does not take a message within this time, in ms, is replaced. Parsing a chunk takes milliseconds. A new
 * thread first loads its modules, which takes long on a very busy machine.
 */
const RESPONSE_TIMEOUT_MS = 120_000;
/** The response to the end of a state may take longer: 1 ms more for every 1000 bytes. */
const END_BYTES_PER_MS = 1000;
/**
 * Heap limit of the thread, in MiB: several times the size of the largest extraction. The thread keeps little of the
 * states themselves in memory.
 */
const HEAP_MIB = 1024;

const notResponding = () => new StateReadingError("the reader thread does not respond");

/** Extracts states in a worker thread, one at a time, so that a large state never blocks the event loop. */
export class StateReader implements AsyncDisposable {
  readonly #silenceMs: number;
  readonly #digestKey: () => DigestKey;
  readonly #thread: Piscina<ReturnType<typeof move>, ReaderAnswer>;

  constructor(
    digestKey: () => DigestKey,
    { heapMiB = HEAP_MIB, silenceMs = RESPONSE_TIMEOUT_MS }: StateReaderLimits = {},
  ) {
    this.#digestKey = digestKey;
    this.#silenceMs = silenceMs;
    this.#thread = new Piscina({
      filename: fileURLToPath(new URL("./reader-thread-worker.ts", import.meta.url)),
      execArgv: [],
      ...{ minThreads: 0, maxThreads: 1, idleTimeout: Number.POSITIVE_INFINITY },
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
      recordTiming: false,
    });
    // Without this listener, an error of a thread that reads no state would crash the process.
    this.#thread.on("error", () => {});
  }

  /**
   * Parses the bytes that `fill` writes to the given stream, and returns the extraction. Throws the error of `fill`,
   * `StateFileError` if the content is invalid, `StateReadingError` if the thread ends or does not respond, and the
   * signal's reason.
   */
  async read(
    fill: (state: Writable) => Promise<void>,
    signal: AbortSignal,
  ): Promise<PackedExtraction> {
    signal.throwIfAborted();
    const stop = new AbortController();
    // A message is written when the thread has taken the previous ones, so that few are in memory.
    const messages = new TransformStream<ReaderMessage, ReaderMessage>();
    const writer = messages.writable.getWriter();
    const send = (message: ReaderMessage) =>
      withTimeout(this.#silenceMs, writer.write(message), notResponding);
    let size = 0;
    const state = new Writable({
      write: (chunk: Uint8Array, _encoding, done) => {
        size += chunk.length;
        // The chunk is copied, because its memory is reused as soon as it is consumed.
        send(Uint8Array.from(chunk)).then(() => done(), done);
      },
      final: (done) => {
        send({ digestKey: this.#digestKey() })
          .then(() => writer.close())
          .then(() => done(), done);
      },
    });
    // The writer receives the error; an 'error' event without a listener would crash the process.
    state.on("error", () => {});
    let answer: ReaderAnswer;
    try {
      const filled = fill(state);
      const answered = this.#extract(messages.readable, AbortSignal.any([signal, stop.signal]));
      await Promise.race([filled, answered]);
      const endMs = this.#silenceMs + size / END_BYTES_PER_MS;
      [answer] = await withTimeout(endMs, Promise.all([answered, filled]), notResponding);
    } catch (error) {
      // A thread that is still busy with this state is ended.
      stop.abort(error);
      writer.abort(error).catch(() => {});
      state.destroy();
      throw error;
    }
    if ("fault" in answer) throw new StateFileError(answer.fault);
    return answer.extraction;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread.destroy();
  }

  async #extract(state: ReadableStream<ReaderMessage>, signal: AbortSignal): Promise<ReaderAnswer> {
    try {
      const moved = move({ [transferableSymbol]: [state], [valueSymbol]: state });
      return await this.#thread.run(moved, { signal });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const tooLarge = Reflect.get(Object(error), "code") === "ERR_WORKER_OUT_OF_MEMORY";
      throw new StateReadingError(
        tooLarge
          ? "the state needs more memory than its reader thread has"
          : "the state crashed its reader thread",
      );
    }
  }
}
