import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const repository = path.resolve(import.meta.dirname, "../..");
const folder = path.join(repository, "node_modules/.cache/test-program");

/** Returns the folder in which a source file finds the files beside it; undefined for its own folder. */
type FolderOf = (file: string) => string | undefined;

/**
 * Returns a build plugin that replaces `import.meta.dirname` and `import.meta.url` with the path of the source file, so
 * that bundled modules find the files beside their source.
 */
const sourcePlaces = (folderOf: FolderOf) => ({
  name: "source-places",
  transform: (code: string, id: string) =>
    code.includes("import.meta.")
      ? code
          .replaceAll("import.meta.dirname", JSON.stringify(folderOf(id) ?? path.dirname(id)))
          .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
      : undefined,
});

/**
 * Bundles `services/cli/main.ts` of the source in `root` into a few files and returns the path of its entry. A run of all
 * tests starts the program some hundred times, and loading a thousand modules takes more CPU time than most tests of
 * processes. Each command loads only the files that it needs.
 */
export async function bundleProgram(
  root: string = repository,
  folderOf: FolderOf = () => undefined,
): Promise<string> {
  const bundle = await rolldown({
    cwd: root,
    input: "services/cli/main.ts",
    platform: "node",
    // Its threads load a file of the package.
    external: ["piscina"],
    plugins: [sourcePlaces(folderOf)],
    logLevel: "silent",
  });
  const draft = path.join(folder, `draft-${randomUUID()}`);
  const { output } = await bundle.write({
    dir: draft,
    format: "esm",
    entryFileNames: "main.mjs",
    chunkFileNames: "[hash].mjs",
  });
  await bundle.close();
  // The path contains a hash of the content, so that Node's compile cache finds the same files in the next run.
  const content = createHash("sha256");
  for (const file of output) content.update(file.fileName).update("code" in file ? file.code : "");
  const kept = path.join(folder, content.digest("hex").slice(0, 16));
  if (!existsSync(kept)) await rename(draft, kept).catch(() => {});
  await rm(draft, { recursive: true, force: true });
  return path.join(kept, "main.mjs");
}
