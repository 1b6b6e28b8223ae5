import { open, rename } from "node:fs/promises";
import path from "node:path";
import process from "node:process";

/**
 * Replaces a file. When the promise resolves, the text is on the disk; a power failure before that leaves either the
 * previous file or the new one.
 */
export async function writeDurably(file: string, text: string, mode: number): Promise<void> {
  const draft = `${file}.${process.pid}.draft`;
  const handle = await open(draft, "w", mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  await syncFolder(path.dirname(file));
}

/** Writes a folder to the disk. A renamed file in the folder survives a power failure only after that. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
