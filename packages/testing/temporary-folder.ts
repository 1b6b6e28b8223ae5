import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { temporaryPath } from "./memory-folder.ts";

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * Creates an empty folder in `parent`, by default the folder for temporary files; disposal deletes it with its contents.
 */
export async function temporaryFolder(parent: string = tmpdir()): Promise<TemporaryFolder> {
  const folder = await mkdtemp(temporaryPath(parent));
  return {
    path: folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
