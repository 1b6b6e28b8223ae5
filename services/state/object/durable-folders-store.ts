import { mkdir, open } from "node:fs/promises";
import path from "node:path";

/** Largest number of folders that are remembered. If there are more, all of them are forgotten. */
const MAX_REMEMBERED = 10_000;

/**
 * Folders below `root`, whose only writer is this process. A new entry of a folder is durable (it survives a power
 * failure) after the folder was synced to the disk. A folder is itself an entry of its parent. Durable folders are
 * remembered, so that a file in one of them costs one sync instead of one for each folder on its path.
 */
export class DurableFolders {
  readonly #root: string;
  readonly #durable = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Creates the folder and its parents, unless they exist. */
  async make(folder: string): Promise<void> {
    const first = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    // These folders are new and not durable yet, even if deleted folders with the same names were durable.
    for (const made of this.#pathTo(folder)) {
      this.#durable.delete(made);
      if (made === first) return;
    }
  }

  /**
   * Makes a folder durable, with its entries and its parents below the root. Call this after creating an entry in the
   * folder.
   */
  async sync(folder: string): Promise<void> {
    // A concurrent upload may have created a folder without having synced it yet, so only remembered folders are
    // skipped.
    const unknown: string[] = [];
    for (const one of this.#pathTo(folder)) {
      if (this.#durable.has(one)) break;
      unknown.push(one);
    }
    await Promise.all([folder, ...unknown.map((one) => path.dirname(one))].map(syncFolder));
    if (this.#durable.size + unknown.length > MAX_REMEMBERED) this.#durable.clear();
    for (const one of unknown) this.#durable.add(one);
  }

  /** Yields the folder and its parents below the root, from the innermost. */
  *#pathTo(folder: string): Generator<string, void, undefined> {
    for (let current = folder; current !== this.#root; current = path.dirname(current)) {
      yield current;
    }
  }
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}
