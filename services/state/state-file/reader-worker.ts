import { Writable } from "node:stream";
import { Worker } from "node:worker_threads";
import { StateFileError, StateReadingError } from "../extraction/domain.ts";
import type { DigestKey } from "../state-digest/domain.ts";
import type { PackedExtraction } from "./packed-extraction-domain.ts";

/** A message to the thread: bytes of a state, or its end with the key of its digests. */
export type ReaderMessage = Uint8Array | { digestKey: DigestKey };
/**
 * A reply from the thread. `taken` acknowledges bytes: the next ones may be sent. `extraction` or `fault` is the reply
 * to the end of the state.
 */
export type ReaderAnswer = "taken" | { extraction: PackedExtraction } | { fault: string };

export interface StateReaderLimits {
  /** Heap limit of the thread, in MiB. A state that needs more memory ends the thread but not the process. */
  heapMiB?: number;
  /** Time in ms within which a new thread must respond for the first time. */
  startMs?: number;
}

/**
 * A thread that does not respond to a message for this time, in ms, is replaced. Parsing a chunk takes milliseconds.
 */
const SILENCE_MS = 30_000;
/**
 * How long a new thread may take to respond for the first time, in ms. It loads its modules first, which takes long on
 * a very busy machine.
 */
const START_MS = 120_000;
/** The response to the end of a state may take longer: 1 ms more for every 1000 bytes. */
const END_BYTES_PER_MS = 1000;
/**
 * Heap limit of the thread, in MiB: several times the size of the largest extraction. The thread keeps little of the
 * states themselves in memory.
 */
const HEAP_MIB = 1024;

/** Extracts states in a worker thread, one at a time, so that a large state never blocks the event loop. */
export class StateReader implements AsyncDisposable {
  readonly #heapMiB: number;
  readonly #startMs: number;
  readonly #digestKey: () => DigestKey;
  #worker: Worker | undefined;
  /** Whether the thread has responded. */
  #isStarted = false;

  constructor(
    digestKey: () => DigestKey,
    { heapMiB = HEAP_MIB, startMs = START_MS }: StateReaderLimits = {},
  ) {
    this.#digestKey = digestKey;
    this.#heapMiB = heapMiB;
    this.#startMs = startMs;
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
    const worker = this.#thread();
    const conversation = converse(worker, {
      ...{ digestKey: this.#digestKey, signal },
      firstMs: this.#isStarted ? SILENCE_MS : this.#startMs,
    });
    try {
      const [answer] = await Promise.all([conversation.answer, fill(conversation.state)]);
      if ("fault" in answer) throw new StateFileError(answer.fault);
      return answer.extraction;
    } catch (error) {
      // A thread that has sent its result waits for the next state, so it is kept. Any other thread is still busy with
      // this state, so it is ended. The end is not awaited, because a thread that does not respond may never end.
      if (!conversation.isOver()) void this.#end(worker);
      throw error;
    } finally {
      conversation.leave();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#worker) await this.#end(this.#worker);
  }

  #thread(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(new URL("./reader-thread-worker.ts", import.meta.url), {
      name: "state reader",
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#heapMiB },
    });
    worker.unref();
    // Without this listener, an error of a thread that is no longer used would crash the process.
    worker.on("error", () => {});
    this.#isStarted = false;
    worker.once("message", () => {
      if (this.#worker === worker) this.#isStarted = true;
    });
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    this.#worker = worker;
    return worker;
  }

  async #end(worker: Worker): Promise<void> {
    if (this.#worker === worker) this.#worker = undefined;
    await worker.terminate();
  }
}

interface Conversation {
  digestKey: () => DigestKey;
  /** Time limit for the response to the first message, in ms. */
  firstMs: number;
  signal: AbortSignal;
}

/**
 * Begins to transfer one state to the thread. Returns a stream that sends the state's bytes one chunk at a time, and
 * the promise of the result.
 */
function converse(worker: Worker, { digestKey, firstMs, signal }: Conversation) {
  const answered = Promise.withResolvers<Exclude<ReaderAnswer, "taken">>();
  let isOver = false;
  let taken: (() => void) | undefined;
  let silence: NodeJS.Timeout | undefined;
  let limitMs = firstMs;
  let sent = 0;
  const send = (message: ReaderMessage, moved: ArrayBuffer[] = []) => {
    worker.postMessage(message, moved);
    clearTimeout(silence);
    const forEnd = message instanceof Uint8Array ? 0 : sent / END_BYTES_PER_MS;
    silence = setTimeout(
      () => fail(new StateReadingError("the reader thread does not respond")),
      limitMs + forEnd,
    );
  };

  const state = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      taken = done;
      // The chunk is copied, because its memory is reused as soon as it is consumed.
      const bytes = Uint8Array.from(chunk);
      sent += bytes.length;
      send(bytes, [bytes.buffer]);
    },
    final(done) {
      send({ digestKey: digestKey() });
      done();
    },
  });
  // The writer receives the error; an 'error' event without a listener would crash the process.
  state.on("error", () => {});

  const onAnswer = (message: ReaderAnswer) => {
    clearTimeout(silence);
    limitMs = SILENCE_MS;
    if (message === "taken") return taken?.();
    isOver = true;
    answered.resolve(message);
  };
  const fail = (error: Error) => {
    answered.reject(error);
    state.destroy(error);
  };
  const ended = () => fail(new StateReadingError("the state crashed its reader thread"));
  const failed = (error: Error & { code?: string }) => {
    const tooLarge = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    fail(
      tooLarge
        ? new StateReadingError("the state needs more memory than its reader thread has")
        : error,
    );
  };
  const stop = () => fail(signal.reason);
  worker.on("message", onAnswer);
  worker.once("error", failed);
  worker.once("exit", ended);
  signal.addEventListener("abort", stop);
  return {
    state,
    answer: answered.promise,
    isOver: () => isOver,
    leave() {
      clearTimeout(silence);
      worker.off("message", onAnswer);
      worker.off("error", failed);
      worker.off("exit", ended);
      signal.removeEventListener("abort", stop);
    },
  };
}
