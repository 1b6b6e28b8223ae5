import type { Extraction } from "../domain/extraction.ts";
import { StateFileParser } from "../domain/state-file-parser.ts";

/** What a whole state holds, its bytes coming in chunks of `size`. */
export function extractStateFile(text: string, size = 64 * 1024): Extraction {
  const parser = new StateFileParser();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) parser.write(bytes.subarray(at, at + size));
  return parser.end();
}
