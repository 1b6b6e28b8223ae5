import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { alive } from "../lock.mjs";
import { type Postgres, startPostgres } from "../postgres.ts";

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
beforeAll(async () => {
  folder = await mkdtempDisposable(path.join(tmpdir(), "statehouse-test-"));
});
afterAll(() => folder[Symbol.asyncDispose]());

const start = (name: string): Promise<Postgres> =>
  startPostgres({ dataDirectory: path.join(folder.path, name), fast: true });

async function rows(postgres: Postgres, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: postgres.url("tea") });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test("a second start finds the data, encoded in UTF-8 with a fixed locale", async () => {
  const first = await start("twice");
  await first.createDatabases(["tea"]);
  await rows(first, "CREATE TABLE cups AS SELECT 'grün' AS colour");
  await first.stop();
  expect(alive(first.pid)).toBe(false);
  await using second = await start("twice");
  await second.createDatabases(["tea"]);
  expect(await rows(second, "SELECT colour, upper(colour) AS shout FROM cups")).toEqual([
    { colour: "grün", shout: "GRÜN" },
  ]);
  expect(await rows(second, "SHOW server_encoding")).toEqual([{ server_encoding: "UTF8" }]);
});

test("connections require the password, which only the current user can read", async () => {
  await using postgres = await start("password");
  const password = path.join(folder.path, "password", "password");
  expect(statSync(password).mode & 0o777).toBe(0o600);
  const url = postgres.url("postgres").replace(/:[^:@/]+@/, ":wrong@");
  await expect(new Client({ connectionString: url }).connect()).rejects.toThrow("authentication");
});

test("a user is admitted to one database, each time with a new password", async () => {
  await using postgres = await start("users");
  await postgres.createDatabases(["tea", "coffee"]);
  const first = await postgres.admit("tea", "tea");
  await postgres.admit("coffee", "coffee");
  const connect = async (url: string) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.end();
  };
  await connect(first);
  for (const other of ["coffee", "postgres"]) {
    const url = new URL(first);
    url.pathname = `/${other}`;
    await expect(connect(url.href), other).rejects.toMatchObject({ code: "42501" });
  }
  const second = await postgres.admit("tea", "tea");
  await connect(second);
  await expect(connect(first)).rejects.toMatchObject({ code: "28P01" });
});

test("an open session does not delay stopping, and the port is the same after a restart", async () => {
  await using postgres = await start("restart");
  const { port } = postgres;
  const session = new Client({ connectionString: postgres.url("postgres") });
  session.on("error", () => {});
  await session.connect();
  await postgres.stop();
  await postgres.start();
  expect(postgres.port).toBe(port);
});

test("a postmaster.pid left by kill -9 does not prevent the next start", async () => {
  const killed = await start("killed");
  await killed.createDatabases(["tea"]);
  await rows(killed, "CREATE TABLE cups AS SELECT 1 AS n");
  await killed.kill();
  expect(existsSync(pidFile("killed"))).toBe(true);
  await killed.start();
  expect(await rows(killed, "SELECT n FROM cups")).toEqual([{ n: 1 }]);
  await killed.stop();
});

test("a stale postmaster.pid with the id of another process is ignored, and that process keeps running", async () => {
  await (await start("stranger")).stop();
  const otherProcess = spawn("sleep", ["60"]);
  writeFileSync(pidFile("stranger"), `${otherProcess.pid}\n/somewhere\n`);
  writeFileSync(path.join(folder.path, "stranger", "owner"), `${otherProcess.pid} long ago`);
  await (await start("stranger")).stop();
  expect(otherProcess.exitCode ?? otherProcess.signalCode).toBe(null);
  otherProcess.kill();
});

test("a folder in use is refused with the name of its owner, which keeps running", async () => {
  await using postgres = await start("in-use");
  await expect(start("in-use")).rejects.toThrow(
    `is in use by another process of Statehouse (${process.pid})`,
  );
  await postgres.createDatabases(["tea"]);
  expect(await rows(postgres, "SELECT 1 AS n")).toEqual([{ n: 1 }]);
});

test("databases of another major version are refused", async () => {
  await (await start("version")).stop();
  writeFileSync(path.join(folder.path, "version", "cluster", "PG_VERSION"), "12\n");
  await expect(start("version")).rejects.toThrow(/were created by PostgreSQL 12, and this is/);
});

test("PostgreSQL stops after kill -9 of its owner, and the next start finds the data", async () => {
  const dataDirectory = path.join(folder.path, "orphan");
  const script = `
    const { startPostgres } = await import(${JSON.stringify(import.meta.resolve("../postgres.ts"))});
    const postgres = await startPostgres({ dataDirectory: ${JSON.stringify(dataDirectory)}, fast: true });
    await postgres.createDatabases(["tea"]);
    console.log(postgres.pid);
    setInterval(() => {}, 1000);`;
  const owner = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(owner.stdout, "data");
  owner.kill("SIGKILL");
  await expect.poll(() => alive(Number(line))).toBe(false);
  await using postgres = await start("orphan");
  expect(await rows(postgres, "SELECT 1 AS n")).toEqual([{ n: 1 }]);
});

test("the output of PostgreSQL is in its log", () => {
  const log = path.join(folder.path, "twice", "postgres.log");
  expect(readFileSync(log, "utf8")).toContain("ready to accept connections");
});

const pidFile = (name: string): string => path.join(folder.path, name, "cluster", "postmaster.pid");
