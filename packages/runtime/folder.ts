import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { hasCode } from "@statehouse/errors";

/**
 * Creates a folder and its parents if they do not exist. Node's own `recursive` option retries endlessly on file
 * systems such as /proc, which report a missing parent that cannot be created.
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
