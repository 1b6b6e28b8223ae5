import { readFileSync } from "node:fs";

/** The result of a check of followed files: either the settings that changed, or the problems of the new contents. */
export type Renewal =
  | { renewed: readonly string[]; needRestart: readonly string[] }
  | { problems: readonly string[] };

/** Files whose contents are followed while the program runs; `watchSettings` checks them. */
export interface FollowedFiles {
  /**
   * Reads the files again. Changed files are applied only when two successive checks have read the same contents and
   * all contents are valid together. Files that are written in quick succession are therefore applied together. Returns
   * undefined if no change is applied or rejected.
   */
  check(): Renewal | undefined;
}

/** The contents of files by name; undefined if the file cannot be read. */
export type FileContents = ReadonlyMap<string, string | undefined>;

/** Returns the text of a file without the line break that editors add at its end. */
export const textOf = (file: string): string => readFileSync(file, "utf8").replace(/\r?\n$/, "");

function readIfThere(file: string): string | undefined {
  try {
    return textOf(file);
  } catch {
    return undefined;
  }
}

const isSame = (one: FileContents, other: FileContents): boolean =>
  [...one].every(([name, text]) => other.get(name) === text);

/**
 * Follows files by name. `renew` applies the new contents and returns the result for the changed names. Contents in
 * which `renew` found problems are not passed to `renew` again until they have changed.
 */
export function followFiles(
  files: readonly { name: string; file: string }[],
  renew: (contents: FileContents, changed: readonly string[]) => Renewal,
): FollowedFiles {
  const read = (): FileContents =>
    new Map(files.map(({ name, file }) => [name, readIfThere(file)]));
  let used = read();
  let seen = used;
  /** The contents that were passed to `renew` last, or are in use. */
  let examined = used;
  return {
    check() {
      const found = read();
      const isStable = isSame(found, seen);
      seen = found;
      if (!isStable || isSame(found, examined)) return undefined;
      examined = found;
      const changed = files
        .map(({ name }) => name)
        .filter((name) => found.get(name) !== used.get(name));
      if (changed.length === 0) return undefined;
      const renewal = renew(found, changed);
      if (!("problems" in renewal)) used = found;
      return renewal;
    },
  };
}
