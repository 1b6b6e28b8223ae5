import { readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { root } from "./folders.mjs";

const folder = path.join(root, "node_modules/.cache/node");
// A run uses about 4,000 entries of 5 KB each; 20,000 entries are about 100 MB.
const maxEntries = 20_000;

/**
 * Returns the folder in which Node keeps compiled code between runs. Deletes the folder if it contains too many
 * entries, because Vitest loads each test file under a new URL in each run, and Node never deletes an entry.
 */
export function compileCache() {
  try {
    if (readdirSync(folder, { recursive: true }).length > maxEntries)
      rmSync(folder, { recursive: true, force: true });
  } catch {
    // The folder was not created yet, or another run has just removed it.
  }
  return folder;
}
