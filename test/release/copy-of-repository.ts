import { execFileSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import path from "node:path";

/** Returns the files that a git clone would contain if all changes in this folder were committed. */
export function filesOfRepository(): string[] {
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
    maxBuffer: 16 * 2 ** 20,
  });
  return files.split("\n").filter((file) => file && existsSync(file));
}

/** Copies the files of `filesOfRepository` to `folder`. */
export function copyOfRepository(folder: string): string {
  for (const file of filesOfRepository()) cpSync(file, path.join(folder, file));
  return folder;
}
