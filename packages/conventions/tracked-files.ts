import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Returns the tracked files under `paths`, and the untracked files that git does not ignore. */
export const trackedFiles = (...paths: readonly string[]): string[] =>
  execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", ...paths],
    { encoding: "utf8", maxBuffer: 16 * 2 ** 20 },
  )
    .split("\n")
    .filter((file) => file && existsSync(file));
