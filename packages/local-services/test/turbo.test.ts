import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../folders.mjs";

// turbo reuses the result of a task while the task's hash is the same. Each test changes one input in a copy of the
// repository and compares the hashes before and after.

const turboCommand = fileURLToPath(new URL("../turbo.mjs", import.meta.url));

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
let before: Map<string, string>;
beforeAll(async () => {
  folder = await mkdtempDisposable(path.join(tmpdir(), "statehouse-test-"));
  const left = /(^|\/)(node_modules|gen|dist|\.git|\.turbo|\.statehouse|[^/]*\.tsbuildinfo)$/;
  cpSync(root, folder.path, {
    recursive: true,
    filter: (source) => !left.test(path.relative(root, source)),
  });
  before = hashes();
});
afterAll(() => folder[Symbol.asyncDispose]());

/** Returns the hash of every task by its id, for example `@statehouse/state#types`. */
function hashes(env: NodeJS.ProcessEnv = {}): Map<string, string> {
  const turbo = path.join(root, "node_modules/turbo/bin/turbo");
  const names = ["generate", "types", "lint", "test", "test:system"];
  const output = execFileSync(process.execPath, [turbo, "run", ...names, "--dry=json"], {
    cwd: folder.path,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: folder.path, TURBO_TELEMETRY_DISABLED: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 64 * 1024 * 1024,
  });
  const { tasks }: { tasks: { taskId: string; hash: string; command: string }[] } =
    JSON.parse(output);
  return new Map(
    tasks
      .filter(({ command }) => command !== "<NONEXISTENT>")
      .map(({ taskId, hash }) => [taskId, hash]),
  );
}

/** Returns the tasks whose hash differs from the hash in the unchanged repository. */
const missed = (after: Map<string, string>): string[] =>
  [...after].filter(([task, hash]) => before.get(task) !== hash).map(([task]) => task);

/** Returns the tasks whose hash changes with `file`. */
function missedAfterChange(file: string, change = (content: string) => `${content}\n`): string[] {
  const name = path.join(folder.path, file);
  const content = readFileSync(name, "utf8");
  writeFileSync(name, change(content));
  try {
    return missed(hashes());
  } finally {
    writeFileSync(name, content);
  }
}

const all = (name: string): string[] =>
  [...before.keys()].filter((task) => task.endsWith(`#${name}`));

test("every package has tasks, and an unchanged repository hits the cache", () => {
  expect(all("types")).toContain("@statehouse/state#types");
  expect(all("test")).toContain("@statehouse/state#test");
  expect(all("test:system")).toEqual(["@statehouse/system-tests#test:system"]);
  expect(all("generate")).toEqual(["@statehouse/proto#generate"]);
  expect(missed(hashes())).toEqual([]);
});

test("a changed lock file invalidates the cache: of all packages for a tool, of dependent packages for a dependency", () => {
  const upgrade = (name: string) => (content: string) => {
    const lock = JSON.parse(content);
    lock.packages[`node_modules/${name}`].version = "99.0.0";
    return JSON.stringify(lock, null, 2);
  };
  expect(missedAfterChange("package-lock.json", upgrade("typescript"))).toEqual([...before.keys()]);
  const koa = missedAfterChange("package-lock.json", upgrade("koa"));
  expect(koa).toContain("@statehouse/gateway#types");
  expect(koa).toContain("@statehouse/system-tests#test:system");
  expect(koa).not.toContain("@statehouse/state#test");
});

test("a change in proto/ invalidates the cache of generate, types and test, but not of lint", () => {
  const after = missedAfterChange("proto/statehouse/workspaces/v1/workspace_lock.proto");
  expect(after).toEqual(expect.arrayContaining([...all("generate"), ...all("types")]));
  expect(after).toEqual(expect.arrayContaining([...all("test"), ...all("test:system")]));
  expect(after.filter((task) => task.endsWith("#lint"))).toEqual([]);
});

test("a change of tsconfig.json invalidates the cache of types and tests", () => {
  const after = missedAfterChange("tsconfig.json");
  expect(after).toEqual(
    expect.arrayContaining([...all("types"), ...all("test"), ...all("test:system")]),
  );
});

test("a change of biome.json invalidates the cache of lint", () => {
  expect(missedAfterChange("biome.json")).toEqual(expect.arrayContaining(all("lint")));
});

test("a change of the local services or of the test setup invalidates the cache of every test", () => {
  const everyTest = expect.arrayContaining([...all("test"), ...all("test:system")]);
  for (const file of [
    "packages/local-services/nats.ts",
    "packages/local-services/programs.mjs",
    "packages/testing/global-setup.ts",
    "vitest.config.ts",
  ]) {
    expect(missedAfterChange(file), file).toEqual(everyTest);
  }
});

test("a change of the environment that tests read invalidates the cache of every test", () => {
  const everyTest = [...all("test"), ...all("test:system")];
  for (const env of [{ CI: "true" }, { NODE_OPTIONS: "--trace-warnings" }]) {
    expect(missed(hashes(env)), JSON.stringify(env)).toEqual(expect.arrayContaining(everyTest));
  }
});

test("a change of a package invalidates the cache of its own tasks and of the packages that depend on it", () => {
  const after = missedAfterChange("services/gateway/config.ts");
  expect(after.sort()).toEqual([
    "@statehouse/cli#test",
    "@statehouse/cli#types",
    "@statehouse/gateway#lint",
    "@statehouse/gateway#test",
    "@statehouse/gateway#types",
    "@statehouse/standalone#test",
    "@statehouse/standalone#types",
    "@statehouse/system-tests#test:system",
    "@statehouse/system-tests#types",
  ]);
  expect(missedAfterChange("packages/errors/index.ts")).toEqual(
    expect.arrayContaining([...all("test:system"), "@statehouse/workspaces#test"]),
  );
});

test("continuous integration takes no result from the cache", () => {
  const run = () =>
    execFileSync(process.execPath, [turboCommand, "run", "lint", "--filter=@statehouse/errors"], {
      encoding: "utf8",
      env: { ...process.env, CI: "true" },
    });
  run();
  expect(run()).toContain("0 cached");
});
