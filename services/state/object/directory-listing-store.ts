import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { hasCode } from "@statehouse/errors";
import { storeUnavailable } from "./errors-store.ts";

/** Returns the entries of a folder; none if it does not exist. Throws `storeUnavailable`. */
export const entriesOf = (folder: string): Promise<Dirent[]> =>
  readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    // The folder may have become empty and been removed in the meantime.
    if (hasCode(error, "ENOENT")) return [];
    throw storeUnavailable(error);
  });

/** Yields the keys after `after` in key order. A folder sorts as if its name ended with the slash that keys contain. */
export async function* keysAmong(
  entries: readonly Dirent[],
  prefix: string,
  after: string,
): AsyncIterable<string> {
  const names = entries
    .map((entry) => ({ entry, key: `${prefix}${entry.name}${entry.isDirectory() ? "/" : ""}` }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  for (const { entry, key } of names) {
    if (!entry.isDirectory()) {
      if (key > after) yield key;
    } else if (key > after || after.startsWith(key)) {
      yield* keysAmong(await entriesOf(path.join(entry.parentPath, entry.name)), key, after);
    }
  }
}
