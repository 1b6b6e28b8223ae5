// The two releases of the test. The previous release is the newest release commit: the commit in which the newest
// section of CHANGELOG.md got its date. It is found in the history of that file, because a clone may lack tags. Before
// the first release, this checkout is also the previous release.
//
// The next release is this checkout. Until it has a migration that the previous release does not have, the test adds one.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { cacheFolder, withLock } from "@statehouse/local-services";
import { bundleProgram, runProgram, sharedDependencies } from "@statehouse/testing";

const repository = path.resolve(import.meta.dirname, "../..");
const migrations = [":(glob)services/**/migrations/*.sql", ":(glob)packages/**/migrations/*.sql"];
/** The folder of a release's source is removed if it has not been used for this time, in ms. */
const UNUSED_MS = 24 * 3_600_000;

/** What the added migration does: it expands tables that both releases read and write. */
const addedMigration: Readonly<Record<string, string>> = {
  access: "alter table users add column added_by_test text;",
  workspaces: "alter table workspaces add column added_by_test text;",
  state: "alter table state_versions add column added_by_test text;",
};

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

/**
 * Returns the newest release commit; undefined before the first release. Throws if the checkout has no history.
 */
export async function releaseCommit(root: string = repository): Promise<string | undefined> {
  try {
    const changelog = await run(root, "git", "show", "HEAD:CHANGELOG.md");
    const [heading] = /^## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/m.exec(changelog) ?? [];
    if (heading === undefined) return undefined;
    const adds = ["log", "-1", `-S${heading}`, "--format=%H", "--", "CHANGELOG.md"];
    const commit = await run(root, "git", ...adds);
    // The oldest commit of a shallow clone also seems to add the heading, but has no parent.
    await run(root, "git", "rev-parse", "--verify", "--quiet", `${commit}^`);
    return commit;
  } catch (cause) {
    throw new Error(
      "The commit of the previous release is unknown, because this checkout has no history: git fetch --unshallow adds it.",
      { cause },
    );
  }
}

/**
 * Returns the paths of the programs of the previous and of the next release. `folder` is for the migration that the test
 * adds.
 */
export async function programs(folder: string): Promise<{ previous: string; next: string }> {
  const current = sharedDependencies().program;
  const commit = await releaseCommit();
  return {
    previous: commit === undefined ? current : await bundleProgram(await sourceOf(commit)),
    next: (await hasNewMigration(commit)) ? current : await withAddedMigration(folder),
  };
}

/** Returns whether this checkout has a migration that the release commit does not have. */
async function hasNewMigration(commit: string | undefined): Promise<boolean> {
  if (commit === undefined) return false;
  const added = ["diff", "--name-only", "--find-renames=100%", "--diff-filter=A", commit];
  return (await run(repository, "git", ...added, "--", ...migrations)) !== "";
}

/** Bundles this checkout with one more migration of each service. */
async function withAddedMigration(folder: string): Promise<string> {
  const folders = new Map<string, string>();
  for (const [service, sql] of Object.entries(addedMigration)) {
    const file = await run(
      repository,
      "git",
      "ls-files",
      `:(glob)services/${service}/**/migrations.ts`,
    );
    const source = path.dirname(path.join(repository, file));
    const copy = path.join(folder, "migrations-of", service);
    cpSync(path.join(source, "migrations"), path.join(copy, "migrations"), { recursive: true });
    await writeFile(path.join(copy, "migrations/9999_added_by_test.sql"), sql);
    folders.set(path.join(repository, file), copy);
  }
  return await bundleProgram(repository, (file) => folders.get(file));
}

/**
 * Returns a folder with the source of a commit and the other parts of its production image: the packages of its lock
 * file, and the code generated from its proto/. The folder is kept for later runs.
 */
function sourceOf(commit: string): Promise<string> {
  const sources = path.join(cacheFolder(), "previous-release");
  const folder = path.join(sources, commit);
  const complete = path.join(folder, "packages/proto/gen");
  return withLock("previous-release", async () => {
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
