import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { sharedNats, temporaryFolder } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "../../..");
const stack = new AsyncDisposableStack();
let project: string;

/** Creates an external project: unpacks the two archives and adds their dependencies. */
beforeAll(async () => {
  const archives = stack.use(await temporaryFolder()).path;
  project = stack.use(await temporaryFolder()).path;
  await run(process.execPath, [path.join(import.meta.dirname, "../build.ts"), archives]);
  expect(readdirSync(archives).toSorted()).toEqual([
    expect.stringMatching(/^statehouse-events-.*\.tgz$/),
    expect.stringMatching(/^statehouse-proto-.*\.tgz$/),
  ]);
  const modules = path.join(project, "node_modules");
  const needed = new Set<string>();
  for (const archive of readdirSync(archives)) {
    const name = archive.includes("events") ? "events" : "proto";
    const folder = path.join(modules, "@statehouse", name);
    mkdirSync(folder, { recursive: true });
    await run("tar", ["-xzf", path.join(archives, archive), "--strip-components=1", "-C", folder]);
    const { dependencies } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    for (const dependency of Object.keys(dependencies)) needed.add(dependency);
  }
  // Dependencies are linked instead of installed with npm, so that nothing is downloaded.
  for (const dependency of needed) {
    if (dependency.startsWith("@statehouse/")) continue;
    mkdirSync(path.dirname(path.join(modules, dependency)), { recursive: true });
    symlinkSync(path.join(root, "node_modules", dependency), path.join(modules, dependency));
  }
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(path.join(project, "listen.ts"), listener);
});
afterAll(() => stack.disposeAsync());

const listener = `
import { deadLetterFiles } from "@statehouse/events/dead-letter-files";
import { createEmitter } from "@statehouse/events/emitter";
import { connectNats, eventType, on, subscribe } from "@statehouse/events/subscribe";
import { WorkspaceLockedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";

const say = (_: object, message: string): void => console.error(message);
const handlers = on(WorkspaceLockedSchema, async (message) => console.log(message.workspaceId));
await createEmitter(handlers).emit(WorkspaceLockedSchema, { workspaceId: "ws-emitted" });
const nats = connectNats({ url: process.env["NATS_URL"] ?? "", name: "elsewhere" });
const subscription = subscribe({
  nats,
  durable: "elsewhere-" + process.pid,
  filter: "statehouse.workspaces.workspace.>",
  handlers,
  deadLetter: deadLetterFiles("dead-letters").store,
  logger: { info: say, warn: say, error: say },
});
await nats.connection();
await nats.ready();
console.log(eventType(WorkspaceLockedSchema));
await subscription[Symbol.asyncDispose]();
await nats[Symbol.asyncDispose]();
`;

test("another project can install and import the subscriber package and receive events", async () => {
  const { stdout } = await run(process.execPath, ["listen.ts"], {
    cwd: project,
    env: { ...process.env, NATS_URL: sharedNats().url },
  });
  expect(stdout).toBe("ws-emitted\nstatehouse.workspaces.workspace.locked.v1\n");
});

test("the package contains the catalog of events", () => {
  const catalog = path.join(project, "node_modules/@statehouse/events/catalog");
  expect(readdirSync(catalog)).toEqual(
    expect.arrayContaining([
      ...["README.md", "asyncapi.json"],
      "statehouse.workspaces.workspace.locked.v1.schema.json",
    ]),
  );
});

test("the package contains its types", async () => {
  const tsc = path.join(root, "node_modules/typescript/bin/tsc");
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022"];
  const types = ["--lib", "es2022,esnext.disposable", "--types", "node"];
  symlinkSync(path.join(root, "node_modules/@types"), path.join(project, "node_modules/@types"));
  const checked = await run(process.execPath, [tsc, ...options, ...types, "listen.ts"], {
    cwd: project,
  }).catch(({ stdout }: { stdout: string }) => ({ stdout }));
  expect(checked.stdout).toBe("");
});
