import { randomBytes } from "node:crypto";
import { chmod, open, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";

const MODE = 0o600;

/**
 * Replaces a file atomically and durably unless it already contains this text. Only the file's owner may read it. The
 * text is first written to a new file with a random name, so that another user who may write to the folder cannot
 * create that file in advance.
 */
export async function writePrivately(file: string, text: string): Promise<void> {
  if ((await readFile(file, "utf8").catch(() => undefined)) === text) {
    await chmod(file, MODE);
    return;
  }
  const draft = `${file}.${randomBytes(8).toString("hex")}.draft`;
  try {
    {
      await using opened = await open(draft, "wx", MODE);
      await opened.writeFile(text);
      await opened.sync();
    }
    await rename(draft, file);
    // The new name survives a power failure only after the folder is synchronized.
    await using folder = await open(path.dirname(file), "r");
    await folder.sync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
