import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import path from "node:path";
import { cacheFolder, withLock } from "@statehouse/local-services";
import { runProgram } from "@statehouse/testing";

const repository = path.resolve(import.meta.dirname, "../..");
const migrations = [
  ":(glob)services/*/store/migrations/*.sql",
  ":(glob)packages/*/migrations/*.sql",
];
/** The folder of a release's source is removed if it has not been used for this time, in ms. */
const UNUSED_MS = 24 * 3_600_000;

async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const bin = path.join(repository, "node_modules/.bin");
  const PATH = `${bin}${path.delimiter}${process.env.PATH ?? ""}`;
  const { code, output, stdout } = await runProgram(command, args, {
    cwd,
    env: { ...process.env, PATH },
  });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}: exit code ${code}\n${output}`);
  return stdout.trim();
}

/** Returns the last commit before the one that added the newest migration. Throws if the checkout has no history. */
export async function baselineCommit(root: string = repository): Promise<string> {
  try {
    const files = (await run(root, "git", "ls-files", ...migrations)).split("\n");
    const added = ["log", "-1", "--no-renames", "--diff-filter=A", "--format=%H"];
    const newest = await run(root, "git", ...added, "--", ...files);
    return await run(root, "git", "rev-parse", "--verify", "--quiet", `${newest}^`);
  } catch (cause) {
    throw new Error(
      "The source before the newest migration is unknown, because this checkout has no history: git fetch --unshallow adds it.",
      { cause },
    );
  }
}

/**
 * Returns a folder with the source of a commit and the other parts of its production image: the packages of its lock
 * file, and the code generated from its proto/. The folder is kept for later runs.
 */
export function sourceOf(commit: string): Promise<string> {
  const sources = path.join(cacheFolder(), "baseline");
  const folder = path.join(sources, commit);
  const complete = path.join(folder, "packages/proto/gen");
  return withLock("baseline", async () => {
    mkdirSync(sources, { recursive: true });
    for (const name of readdirSync(sources)) {
      const other = path.join(sources, name);
      if (statSync(other).mtimeMs < Date.now() - UNUSED_MS) rmSync(other, { recursive: true });
    }
    if (!existsSync(complete)) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      const archive = path.join(folder, "source.tar");
      await run(repository, "git", "archive", `--output=${archive}`, commit);
      await run(folder, "tar", "--extract", `--file=${archive}`);
      rmSync(archive);
      // The same options as in deploy/image/Dockerfile.
      const quietly = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
      const production = ["--omit=dev", "--workspace=@statehouse/cli", "--include-workspace-root"];
      await run(folder, "npm", "ci", ...quietly, ...production);
      await run(folder, "buf", "generate");
    }
    const now = new Date();
    utimesSync(folder, now, now);
    return folder;
  });
}
