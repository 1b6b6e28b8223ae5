import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { hasCode } from "@statehouse/errors";

/**
 * Makes a folder and those above it, unless they are there. Node's own `recursive` tries for ever where a file system
 * says that there is no such folder to make one in, as /proc does.
 */
export async function makeFolder(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    const above = path.dirname(folder);
    if (hasCode(error, "ENOENT") && above !== folder) {
      await makeFolder(above, mode);
      await mkdir(folder, { mode }).catch((again) => passIfThere(folder, again));
    } else await passIfThere(folder, error);
  }
}

async function passIfThere(folder: string, error: unknown): Promise<void> {
  if (!hasCode(error, "EEXIST") || !(await stat(folder)).isDirectory()) throw error;
}
