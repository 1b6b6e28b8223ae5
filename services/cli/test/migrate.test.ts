import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { freshDatabase } from "@statehouse/postgres/testing";
import { sharedDependencies } from "@statehouse/testing";
import { expect, test } from "vitest";
import { exitOf, startService, statehouse } from "./statehouse.ts";

const inDatabase = (name: string, user?: string): string => {
  const url = new URL(sharedDependencies().postgres.url);
  url.pathname = `/${name}`;
  if (user !== undefined) url.username = user;
  return url.href;
};

/** Returns a port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return typeof address === "object" && address ? address.port : 0;
}

test("the command waits for its database", async () => {
  await using other = await freshDatabase({ contextName: "state", migrations: [] });
  const name = `late_${randomBytes(6).toString("hex")}`;
  const child = startService("migrate", { DATABASE_URL: inDatabase(name) }, ["state"]);
  const ended = exitOf(child);
  let printed = "";
  const waiting = new Promise<void>((resolve) => {
    child.stdout?.on("data", (chunk) => {
      printed += String(chunk);
      if (printed.includes("waiting for the database")) resolve();
    });
  });
  try {
    await Promise.race([waiting, ended]);
    expect(printed).toBe(`waiting for the database: database "${name}" does not exist\n`);
    await other.query(`create database ${name}`);
    expect(await ended).toEqual({ code: 0, stderr: "" });
    expect(printed).toContain("applied 0001_baseline");
  } finally {
    await other.query(`drop database if exists ${name} with (force)`);
  }
});

test("the command waits no longer than its setting, and not for a password that is wrong", async () => {
  const DATABASE_URL = `postgresql://statehouse@127.0.0.1:${await closedPort()}/state`;
  const late = await statehouse(["migrate", "state"], { DATABASE_URL, MIGRATE_WAIT_SECONDS: "1" });
  expect(late.code).toBe(1);
  expect(late.stderr).toMatch(
    /^The database of state could not be used within 1 seconds: connect ECONNREFUSED [^\n]*\n$/,
  );
  await using fresh = await freshDatabase({ contextName: "state", migrations: [] });
  const unknownDatabase = await statehouse(["migrate", "state"], {
    DATABASE_URL: inDatabase(fresh.name, "stranger"),
  });
  expect(unknownDatabase.code).toBe(1);
  expect(unknownDatabase.stderr).toMatch(
    /^The database of state could not be used: [^\n]*"stranger"[^\n]*\n$/,
  );
});
