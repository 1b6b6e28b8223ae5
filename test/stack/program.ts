import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const repository = path.resolve(import.meta.dirname, "../..");
const folder = path.join(repository, "node_modules/.cache/test-program");

/**
 * A build plugin that keeps the path of each source file, so that bundled modules find the files beside their source.
 */
const sourcePlaces = {
  name: "source-places",
  transform: (code: string, id: string) =>
    code.includes("import.meta.")
      ? code
          .replaceAll("import.meta.dirname", JSON.stringify(path.dirname(id)))
          .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
      : undefined,
};

const built = new Map<string, Promise<string>>();

/**
 * Returns the path of `services/cli/main.ts` bundled into one file, built once per worker. A suite starts the program a
 * hundred times, and loading a thousand modules takes more CPU time than most tests of processes. `root` is the folder
 * of the source; default: this repository.
 */
export function serviceProgram(root: string = repository): Promise<string> {
  const program = built.get(root) ?? build(root);
  built.set(root, program);
  return program;
}

async function build(root: string): Promise<string> {
  const bundle = await rolldown({
    cwd: root,
    input: "services/cli/main.ts",
    platform: "node",
    plugins: [sourcePlaces],
    logLevel: "silent",
  });
  const draft = path.join(folder, `draft-${randomUUID()}`);
  const file = path.join(draft, "main.mjs");
  await mkdir(draft, { recursive: true });
  await bundle.write({ file, format: "esm", codeSplitting: false });
  await bundle.close();
  // The path contains a hash of the content, so that Node's compile cache finds the same file in the next run.
  const content = createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
  const kept = path.join(folder, content.slice(0, 16));
  if (!existsSync(kept)) await rename(draft, kept).catch(() => {});
  await rm(draft, { recursive: true, force: true });
  return path.join(kept, "main.mjs");
}
