import { fileURLToPath } from "node:url";
import { AppError, type FieldError, unavailable } from "@statehouse/errors";
import { move, Piscina, transferableSymbol, valueSymbol } from "piscina";
import { countValues } from "./count-values.ts";
import { type ParsedBody, parseRouteBody } from "./parsed-body.ts";
import type { Route } from "./route.ts";

/** A body for the parser thread, and the route whose schema the body must match. */
export interface BodyMessage {
  method: string;
  path: string;
  bytes: Uint8Array;
}

/** The result of the parser thread: the parsed body, or the reason why it is refused. */
export type BodyAnswer =
  | { parsed: ParsedBody }
  | {
      refused: {
        kind: AppError["kind"];
        reason: string;
        message: string;
        fields: readonly FieldError[];
      };
    };

export interface BodyParser extends AsyncDisposable {
  /**
   * Parses a body. `bytes` may be moved to the thread and must not be used afterwards. Throws `badRequest`, `invalid`
   * or `unavailable`.
   */
  parse(route: Route, bytes: Uint8Array<ArrayBuffer>): Promise<ParsedBody>;
}

export interface BodyParserLimits {
  /** Time limit for parsing one body in the thread, in ms. */
  parsingMs?: number;
}

/** Bodies with more bytes than this are parsed in the parser thread. */
const INLINE_BYTES = 4 * 1024 * 1024;
/** Bodies with more values than this are parsed in the parser thread. */
const INLINE_VALUES = 20_000;

const isSmall = (bytes: Uint8Array): boolean =>
  bytes.length <= INLINE_BYTES && countValues(bytes, INLINE_VALUES) <= INLINE_VALUES;

/**
 * A thread that does not return a result within this time, in ms, is replaced. Parsing a body takes at most about two
 * seconds. A new thread first loads all routes, which takes one to two seconds of CPU time, and much longer on a very
 * busy machine.
 */
const PARSING_MS = 120_000;
/** Heap limit of the thread. A body that needs more memory ends the thread but not the process. */
const HEAP_MIB = 1024;

/**
 * Creates a body parser. It parses bodies that are large or have many values one at a time in a thread, so that they do
 * not block the event loop.
 */
export function createBodyParser({ parsingMs = PARSING_MS }: BodyParserLimits = {}): BodyParser {
  const thread = new Piscina<ReturnType<typeof move>, BodyAnswer>({
    filename: fileURLToPath(new URL("./body-parser-thread.ts", import.meta.url)),
    execArgv: [],
    ...{ minThreads: 0, maxThreads: 1, idleTimeout: Number.POSITIVE_INFINITY },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    recordTiming: false,
  });
  // Without this listener, an error of a thread that parses no body would crash the process.
  thread.on("error", () => {});
  const closing = new AbortController();
  let previous: Promise<unknown> = Promise.resolve();

  const runInThread = async (message: BodyMessage): Promise<BodyAnswer> => {
    const moved = move({ [transferableSymbol]: [message.bytes.buffer], [valueSymbol]: message });
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(parsingMs)]);
    try {
      return await thread.run(moved, { signal });
    } catch (error) {
      throw unavailable("body_parser", "The request body could not be read; try again.", error);
    }
  };
  return {
    async parse(route, bytes) {
      if (isSmall(bytes)) return parseRouteBody(route, bytes);
      const { method, path } = route;
      // The time limit of a body begins when the thread receives it, not while other bodies are parsed.
      const turn = previous.then(() => runInThread({ method, path, bytes }));
      previous = turn.catch(() => {});
      const answer = await turn;
      if ("parsed" in answer) return answer.parsed;
      const { kind, reason, message, fields } = answer.refused;
      throw new AppError(kind, reason, message, { fields });
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await thread.destroy();
    },
  };
}
