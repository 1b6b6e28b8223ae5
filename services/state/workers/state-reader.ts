import { Writable } from "node:stream";
import { Worker } from "node:worker_threads";
import type { PackedExtraction } from "../domain/extraction.ts";
import { StateFileError, StateReadingError } from "../domain/state-file.ts";

/** What the thread answers. */
export type ReaderAnswer = { extraction: PackedExtraction } | { fault: string };

export interface StateReaderLimits {
  /** Heap of the thread; a state that needs more ends the thread, not the process. */
  heapMiB?: number;
}

const HEAP_MIB = 2048;
/** After a state of this size the thread goes, and its heap with it. */
const LARGE_BYTES = 8 * 1024 * 1024;

/** Takes the bytes of one state, off the process's heap, to be handed to the thread without a copy. */
export class StateBytes extends Writable {
  readonly memory: ArrayBuffer;
  readonly #bytes: Uint8Array;
  #received = 0;

  constructor(size: number) {
    super();
    this.memory = new ArrayBuffer(size);
    this.#bytes = new Uint8Array(this.memory);
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error) => void) {
    if (this.#received + chunk.length > this.#bytes.length) {
      done(new RangeError("more bytes than announced"));
      return;
    }
    this.#bytes.set(chunk, this.#received);
    this.#received += chunk.length;
    done();
  }
}

/** Reads states in a worker thread, one at a time, so that a large one never stalls the event loop. */
export class StateReader implements AsyncDisposable {
  readonly #heapMiB: number;
  #worker: Worker | undefined;

  constructor({ heapMiB = HEAP_MIB }: StateReaderLimits = {}) {
    this.#heapMiB = heapMiB;
  }

  /** Takes `memory` over. Throws `StateFileError` when the content is at fault, and the signal's reason. */
  async read(memory: ArrayBuffer, signal: AbortSignal): Promise<PackedExtraction> {
    signal.throwIfAborted();
    const size = memory.byteLength;
    let answer: ReaderAnswer;
    try {
      answer = await ask(this.#thread(), memory, signal);
    } catch (error) {
      await this.#end();
      throw error;
    }
    if (size > LARGE_BYTES) await this.#end();
    if ("fault" in answer) throw new StateFileError(answer.fault);
    return answer.extraction;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }

  #thread(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(new URL("./state-reader-thread.ts", import.meta.url), {
      name: "state reader",
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#heapMiB },
    });
    worker.unref();
    // What becomes of a thread that nobody waits for concerns nobody.
    worker.on("error", () => {});
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    this.#worker = worker;
    return worker;
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

function ask(worker: Worker, memory: ArrayBuffer, signal: AbortSignal): Promise<ReaderAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ReaderAnswer>();
  const ended = () => reject(new StateReadingError("reading the state ended its reader"));
  const failed = (error: Error & { code?: string }) => {
    const tooLarge = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    reject(
      tooLarge ? new StateReadingError("the state needs more memory than its reader has") : error,
    );
  };
  const stop = () => {
    reject(signal.reason);
    void worker.terminate();
  };
  worker.once("message", resolve);
  worker.once("error", failed);
  worker.once("exit", ended);
  signal.addEventListener("abort", stop);
  worker.postMessage(memory, [memory]);
  return promise.finally(() => {
    worker.off("message", resolve);
    worker.off("error", failed);
    worker.off("exit", ended);
    signal.removeEventListener("abort", stop);
  });
}
