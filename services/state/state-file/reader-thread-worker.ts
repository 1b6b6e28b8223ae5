import { StateFileError } from "../extraction/domain.ts";
import { packed } from "./packed-extraction-domain.ts";
import { StateFileParser } from "./parser-domain.ts";
import type { ReaderAnswer, ReaderMessage } from "./reader-worker.ts";

/**
 * Extracts one state. Runs in a separate thread, because parsing 100 MB takes seconds and would block the event loop.
 * @public The pool imports it by the name of the file.
 */
export default async function extract(state: ReadableStream<ReaderMessage>): Promise<ReaderAnswer> {
  const parser = new StateFileParser();
  let answer: ReaderAnswer | undefined;
  for await (const message of state) {
    // The rest of an invalid state is received but not parsed.
    if (answer) continue;
    try {
      if ("digestKey" in message) answer = { extraction: packed(parser.end(), message.digestKey) };
      else parser.write(message);
    } catch (error) {
      answer = { fault: faultOf(error) };
    }
  }
  return answer ?? { fault: "" };
}

/** Returns the message of an error. Messages of unexpected errors are replaced, because they can quote the state. */
function faultOf(error: unknown): string {
  if (error instanceof StateFileError) return error.message;
  return `the state cannot be read (${error instanceof Error ? error.name : "unknown"})`;
}
