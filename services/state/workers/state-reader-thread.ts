import { parentPort } from "node:worker_threads";
import { packed } from "../domain/extraction.ts";
import { extractStateFile, StateFileError } from "../domain/state-file.ts";
import type { ReaderAnswer } from "./state-reader.ts";

// A thread of its own, because parsing 100 MB takes a second in which nobody else would be served.
parentPort?.on("message", (memory: ArrayBuffer) => parentPort?.postMessage(read(memory)));

function read(memory: ArrayBuffer): ReaderAnswer {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(memory);
    return { extraction: packed(extractStateFile(text)) };
  } catch (error) {
    if (error instanceof StateFileError) return { fault: error.message };
    // Not the message: it may quote the state.
    return {
      fault: `the state cannot be read (${error instanceof Error ? error.name : "unknown"})`,
    };
  }
}
