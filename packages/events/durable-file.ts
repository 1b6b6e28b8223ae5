import { randomUUID } from "node:crypto";
import { open, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";

/**
 * Replaces a file. When the promise resolves, the text is on the disk. A power failure during the replacement leaves
 * either the previous file or the new file. Only the owner of the process can read the new file.
 */
export async function writeDurably(file: string, text: string): Promise<void> {
  // The name of the draft is random, because replicas that share a folder can have the same process id: in a container
  // it is often 1.
  const draft = `${file}.${randomUUID()}.draft`;
  try {
    await writeFile(draft, text, { flag: "wx", mode: 0o600, flush: true });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(path.dirname(file));
}

/** Writes a folder to the disk. Before this, a power failure can undo the renaming of a file in the folder. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}
