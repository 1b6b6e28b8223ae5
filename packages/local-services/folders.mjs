import { homedir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Returns the folder that all clones of the repository share: built programs, locks, and the logs of installers. */
export function cacheFolder() {
  const base = process.env.XDG_CACHE_HOME;
  // The XDG specification requires that relative paths are ignored.
  return path.join(
    base && path.isAbsolute(base) ? base : path.join(homedir(), ".cache"),
    "statehouse",
  );
}
