import { Worker } from "node:worker_threads";
import { AppError, type FieldError, unavailable } from "@statehouse/errors";
import { countValues } from "./count-values.ts";
import { type ParsedBody, parseRouteBody } from "./parsed-body.ts";
import type { Route } from "./route.ts";

/** A message to the parser thread: a body, and the route whose schema the body must match. */
export interface BodyMessage {
  number: number;
  method: string;
  path: string;
  bytes: Uint8Array;
}

/** A message from the parser thread: the parsed body, or the reason why it is refused. */
export type BodyAnswer = { number: number } & (
  | { parsed: ParsedBody }
  | {
      refused: {
        kind: AppError["kind"];
        reason: string;
        message: string;
        fields: readonly FieldError[];
      };
    }
);

export interface BodyParser extends AsyncDisposable {
  /**
   * Parses a body. `bytes` may be moved to the thread and must not be used afterwards. Throws `badRequest`, `invalid`
   * or `unavailable`.
   */
  parse(route: Route, bytes: Uint8Array<ArrayBuffer>): Promise<ParsedBody>;
}

export interface BodyParserLimits {
  /** Time in ms within which a new thread must return its first result. */
  startMs?: number;
}

/** Bodies with more bytes than this are parsed in the thread. */
const INLINE_BYTES = 4 * 1024 * 1024;
/** Bodies with more values than this are parsed in the thread. */
const INLINE_VALUES = 20_000;

const isSmall = (bytes: Uint8Array): boolean =>
  bytes.length <= INLINE_BYTES && countValues(bytes, INLINE_VALUES) <= INLINE_VALUES;

/**
 * A thread is replaced if it returns no result for this time, in ms, while bodies wait. Parsing a body takes at most
 * about two seconds.
 */
const SILENCE_MS = 30_000;
/**
 * Time in ms within which a new thread must return its first result. The thread first loads all routes, which takes one
 * to two seconds of CPU time, and much longer on a very busy machine.
 */
const START_MS = 120_000;
/** Heap limit of the thread. A body that needs more memory ends the thread but not the process. */
const HEAP_MIB = 1024;

const parserEnded = (cause?: unknown) =>
  unavailable("body_parser", "The request body could not be read; try again.", cause);

/**
 * Creates a body parser. It parses bodies that are large or have many values one at a time in a thread, so that they do
 * not block the event loop.
 */
export function createBodyParser({ startMs = START_MS }: BodyParserLimits = {}): BodyParser {
  let thread: Worker | undefined;
  /** Whether the thread has returned a result. */
  let isStarted = false;
  let last = 0;
  const waiting = new Map<number, PromiseWithResolvers<ParsedBody>>();

  let silence: NodeJS.Timeout | undefined;

  const failAll = (cause?: unknown) => {
    thread = undefined;
    clearTimeout(silence);
    for (const { reject } of waiting.values()) reject(parserEnded(cause));
    waiting.clear();
  };
  const watch = (worker: Worker, limitMs = SILENCE_MS) => {
    clearTimeout(silence);
    if (waiting.size === 0) return;
    silence = setTimeout(() => {
      if (thread === worker) failAll(new Error("the thread does not answer"));
      void worker.terminate();
    }, limitMs).unref();
  };
  const start = (): Worker => {
    const worker = new Worker(new URL("./body-parser-thread.ts", import.meta.url), {
      name: "body parser",
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    worker.unref();
    isStarted = false;
    worker.on("message", (answer: BodyAnswer) => {
      // Messages from a thread that was replaced are ignored. The requests whose bodies waited for that thread have
      // already failed.
      if (thread !== worker) return;
      isStarted = true;
      const asked = waiting.get(answer.number);
      waiting.delete(answer.number);
      watch(worker);
      if ("parsed" in answer) return asked?.resolve(answer.parsed);
      const { kind, reason, message, fields } = answer.refused;
      asked?.reject(new AppError(kind, reason, message, { fields }));
    });
    const ended = (cause?: unknown) => {
      if (thread === worker) failAll(cause);
    };
    worker.once("error", ended);
    worker.once("exit", () => ended());
    return worker;
  };
  return {
    async parse(route, bytes) {
      if (isSmall(bytes)) return parseRouteBody(route, bytes);
      thread ??= start();
      const number = ++last;
      const asked = Promise.withResolvers<ParsedBody>();
      waiting.set(number, asked);
      const { method, path } = route;
      const message: BodyMessage = { number, method, path, bytes };
      thread.postMessage(message, [bytes.buffer]);
      if (waiting.size === 1) watch(thread, isStarted ? SILENCE_MS : startMs);
      return asked.promise;
    },
    async [Symbol.asyncDispose]() {
      await thread?.terminate();
    },
  };
}
