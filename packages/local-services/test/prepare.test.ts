import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { install, installed } from "../install.mjs";
import { withLock } from "../lock.mjs";
import { pinnedNode, postgresPackage } from "../platform.mjs";

const prepare = fileURLToPath(new URL("../prepare.mjs", import.meta.url));

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
beforeAll(async () => {
  folder = await mkdtempDisposable(path.join(tmpdir(), "statehouse-test-"));
});
afterAll(() => folder[Symbol.asyncDispose]());

/** Returns the environment of a machine that has only `programs` on its PATH, and an empty cache. */
function machine(name: string, programs: Record<string, string>): NodeJS.ProcessEnv {
  const bin = path.join(folder.path, name, "bin");
  mkdirSync(bin, { recursive: true });
  for (const [program, script] of Object.entries(programs)) {
    writeFileSync(path.join(bin, program), `#!/bin/sh\n${script}\n`);
    chmodSync(path.join(bin, program), 0o755);
  }
  return { PATH: bin, XDG_CACHE_HOME: path.join(folder.path, name, "cache") };
}

function runPrepare(
  env: NodeJS.ProcessEnv,
  ...args: string[]
): { code: number | null; said: string } {
  const { status, stderr } = spawnSync(process.execPath, [prepare, ...args], {
    env,
    encoding: "utf8",
  });
  return { code: status, said: stderr };
}

const nats = { "nats-server": "echo nats-server: v2.11.0" };

test("without nats-server and Go, prepares a start without events and prints nothing", () => {
  expect(runPrepare(machine("bare", {}))).toEqual({ code: 0, said: "" });
});

test("treats an outdated nats-server on PATH as missing", () => {
  const { code, said } = runPrepare(
    machine("old", { "nats-server": "echo nats-server: v2.9.25" }),
    "--tests",
  );
  expect(code).toBe(0);
  expect(said).toMatch(
    /^nats-server is missing: install it .* or install Go .*\. The suites that need it will be skipped\.\n/,
  );
});

test("prints nothing if every dependency is present", () => {
  expect(runPrepare(machine("full", nats))).toEqual({ code: 0, said: "" });
});

test("lists dependencies that only tests need without requiring them", () => {
  const { code, said } = runPrepare(machine("user", nats), "--tests");
  expect(code).toBe(0);
  expect(said).toMatch(
    /^minio is missing: .* will be skipped\.\nterraform is missing: .* will be skipped\.\n$/,
  );
});

test("on CI a missing program is a failure", () => {
  const { code, said } = runPrepare({ ...machine("ci", nats), CI: "true" }, "--tests");
  expect(code).toBe(1);
  expect(said).toMatch(/^minio is missing: .*\.\n$/);
});

test("on CI a missing nats-server is a failure", () => {
  const { code, said } = runPrepare({ ...machine("ci-bare", {}), CI: "true" }, "--tests");
  expect(code).toBe(1);
  expect(said).toMatch(/^nats-server is missing: .*\.\n$/);
});

test("reports a failed build with its reason and log, and leaves nothing in the cache", () => {
  const env = machine("broken", {
    go: "echo 'go: module lookup failed: no such host' >&2; exit 1",
  });
  const { code, said } = runPrepare(env);
  expect(code).toBe(0);
  expect(said).toMatch(
    /Building nats-server .*: failed: go: module lookup failed: no such host \(complete output: .*build-nats-server\.log\)\.\n$/,
  );
  expect(said).not.toMatch(/\n {4}at /);
});

test("two runs that both lack a program build it once", async () => {
  const count = path.join(folder.path, "count");
  const go = `echo built >> ${count}; sleep 0.3; printf '#!/bin/sh\\n' > "$GOBIN/nats-server"; chmod +x "$GOBIN/nats-server"`;
  const env = machine("twice", { go });
  for (const tool of ["sleep", "chmod"]) {
    symlinkSync(`/bin/${tool}`, path.join(String(env.PATH), tool));
  }
  const runs = [1, 2].map(() => once(spawn(process.execPath, [prepare], { env }), "exit"));
  expect(await Promise.all(runs)).toEqual([
    [0, null],
    [0, null],
  ]);
  expect(readFileSync(count, "utf8")).toBe("built\n");
});

test("a build does not use the flags of the caller's shell, and uses the caller's source of modules", () => {
  const seen = path.join(folder.path, "go-environment");
  const go = `echo "$GOFLAGS|$GOWORK|$GOOS|$GOPROXY" >> ${seen}; exit 1`;
  const env = machine("flags", { go });
  const proxy = "https://modules.example.com";
  runPrepare({ ...env, GOFLAGS: "-toolexec=evil", GOWORK: "/work", GOOS: "js", GOPROXY: proxy });
  expect(readFileSync(seen, "utf8")).toBe(`-trimpath -buildvcs=false|off||${proxy}\n`);
});

test("an installation runs no scripts of packages", async () => {
  const clone = path.join(folder.path, "scripts");
  mkdirSync(clone);
  const manifest = { name: "scripts", version: "1.0.0" };
  const scripts = { install: "node -e \"fs.writeFileSync('ran', '')\"" };
  writeFileSync(path.join(clone, "package.json"), JSON.stringify({ ...manifest, scripts }));
  const lock = { ...manifest, lockfileVersion: 3, packages: { "": manifest } };
  writeFileSync(path.join(clone, "package-lock.json"), JSON.stringify(lock));
  mkdirSync(path.join(clone, "node_modules"));
  await install(clone);
  expect(existsSync(path.join(clone, "ran"))).toBe(false);
});

test("names platforms that have no packaged Node or PostgreSQL", () => {
  expect(() => pinnedNode("sunos-x64", "20.1.0")).toThrow(
    "There is no packaged Node 26 for sunos-x64; start Statehouse with Node 26 or newer (this is 20.1.0).",
  );
  expect(() => pinnedNode("linux-riscv64", "20.1.0")).toThrow("There is no packaged Node 26");
  expect(pinnedNode("sunos-x64", "27.0.0")).toBe(process.execPath);
  expect(() => postgresPackage("sunos-x64")).toThrow(
    "There is no packaged PostgreSQL for sunos-x64",
  );
});

test("accepts a manual installation and detects a changed lock file", () => {
  const clone = path.join(folder.path, "clone");
  mkdirSync(path.join(clone, "node_modules"), { recursive: true });
  const lock = (version: string) => ({
    packages: {
      "": {},
      "packages/own": { version: "0.1.0" },
      "node_modules/tea": { version },
      "node_modules/tea-for-windows": { version, optional: true },
    },
  });
  const write = (file: string, content: object) =>
    writeFileSync(path.join(clone, file), JSON.stringify(content));
  write("package-lock.json", lock("1.0.0"));
  expect(installed(clone)).toBe(false);
  write("node_modules/.package-lock.json", {
    packages: { "node_modules/tea": { version: "1.0.0" } },
  });
  expect(installed(clone)).toBe(true);
  write("package-lock.json", lock("1.0.1"));
  expect(installed(clone)).toBe(false);
});

test("takes over a lock whose owner has exited", async () => {
  const locks = path.join(folder.path, "locking", "statehouse", "locks");
  mkdirSync(locks, { recursive: true });
  const gone = spawnSync("true").pid;
  writeFileSync(path.join(locks, "abandoned.lock"), String(gone));
  const before = process.env.XDG_CACHE_HOME;
  process.env.XDG_CACHE_HOME = path.join(folder.path, "locking");
  try {
    expect(await withLock("abandoned", async () => "done")).toBe("done");
  } finally {
    if (before === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = before;
  }
});
