import { homedir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Where built programs, logs of installers and locks are kept between clones. */
export function cacheFolder() {
  const base = process.env.XDG_CACHE_HOME;
  // The XDG specification requires that relative paths are ignored.
  return path.join(
    base && path.isAbsolute(base) ? base : path.join(homedir(), ".cache"),
    "statehouse",
  );
}
