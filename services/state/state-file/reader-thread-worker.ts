import { parentPort } from "node:worker_threads";
import { StateFileError } from "../extraction/domain.ts";
import type { DigestKey } from "../state-digest/domain.ts";
import { packed } from "./packed-extraction-domain.ts";
import { StateFileParser } from "./parser-domain.ts";
import type { ReaderAnswer, ReaderMessage } from "./reader-worker.ts";

// Runs in a separate thread, because parsing 100 MB takes seconds and would block the event loop.
let parser = new StateFileParser();
let fault: string | undefined;

parentPort?.on("message", (message: ReaderMessage) => {
  if ("digestKey" in message) return answer(end(message.digestKey));
  attempt(() => parser.write(message));
  answer("taken");
});

const answer = (text: ReaderAnswer) => parentPort?.postMessage(text);

function end(digestKey: DigestKey): ReaderAnswer {
  const extraction = attempt(() => packed(parser.end(), digestKey));
  const ended: ReaderAnswer =
    fault === undefined && extraction ? { extraction } : { fault: fault ?? "" };
  parser = new StateFileParser();
  fault = undefined;
  return ended;
}

/**
 * Runs `work` unless an earlier call for the same state failed. The rest of an invalid state is received but not
 * parsed.
 */
function attempt<T>(work: () => T): T | undefined {
  if (fault !== undefined) return undefined;
  try {
    return work();
  } catch (error) {
    // Messages of other errors are replaced, because they can quote the state.
    const name = error instanceof Error ? error.name : "unknown";
    fault = error instanceof StateFileError ? error.message : `the state cannot be read (${name})`;
    return undefined;
  }
}
