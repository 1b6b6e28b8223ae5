import { waitFor } from "@statehouse/testing";
import { Client } from "pg";
import { expect, test } from "vitest";
import { freshDatabase } from "../testing/fresh-database.ts";

const migrations = [{ name: "0001_cups", up: "CREATE TABLE cups (id text PRIMARY KEY)" }];

async function rowsOf(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test("a connection that is closed while idle is replaced", async () => {
  await using database = await freshDatabase({ contextName: "cups", migrations });
  const current = async () =>
    (await database.query<{ pid: number }>("SELECT pg_backend_pid() AS pid"))[0]?.pid;
  const pid = await current();
  await rowsOf(database.url, `SELECT pg_terminate_backend(${pid}, 10000)`);
  await waitFor(async () => (await current()) !== pid);
});

test("two fresh databases have the same schema and separate rows, and are dropped at the end", async () => {
  const one = await freshDatabase({ contextName: "cups", migrations });
  await using two = await freshDatabase({ contextName: "cups", migrations });
  await rowsOf(one.url, "INSERT INTO cups VALUES ('a')");
  expect(await rowsOf(two.url, "SELECT * FROM cups")).toEqual([]);
  const there = `SELECT FROM pg_database WHERE datname = '${one.name}'`;
  expect(await rowsOf(two.url, there)).toHaveLength(1);
  await one[Symbol.asyncDispose]();
  expect(await rowsOf(two.url, there)).toHaveLength(0);
});

test("many test files can create databases with the same schema concurrently", async () => {
  const fresh = [{ name: "0001_pots", up: "CREATE TABLE pots (id text)" }];
  const databases = await Promise.all(
    Array.from({ length: 5 }, () => freshDatabase({ contextName: "pots", migrations: fresh })),
  );
  for (const database of databases) {
    expect(await rowsOf(database.url, "SELECT * FROM pots")).toEqual([]);
    await database[Symbol.asyncDispose]();
  }
});
