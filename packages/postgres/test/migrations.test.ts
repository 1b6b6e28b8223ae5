import { freshDatabase, setServerVersion } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { waitFor } from "@statehouse/testing";
import { Client } from "pg";
import { expect, test } from "vitest";
import { openDatabase } from "../database.ts";
import { migrate } from "../migrations.ts";

const first = { name: "0001_cups", up: "create table cups (id text primary key)" };
const second = { name: "0002_size", up: "alter table cups add column size integer" };
const refusal =
  "The database of cups was created by a commit of Statehouse before the release of version 0.1.0";
const empty = () => freshDatabase({ contextName: "migrations", migrations: [] });

test("each migration is applied once and in order, even by concurrent runs", async () => {
  await using database = await empty();
  const run = () =>
    migrate({ url: database.url, contextName: "cups", migrations: [second, first] });
  const applied = await Promise.all([run(), run(), run()]);
  expect(applied.flat()).toEqual(["0001_cups", "0002_size"]);
  expect(await run()).toEqual([]);
});

test("a failed migration changes nothing, and the error names it", async () => {
  await using database = await empty();
  const broken = { name: "0002_broken", up: "create table pots (id text); select 1/0" };
  const options = { url: database.url, contextName: "cups" };
  const failing = migrate({ ...options, migrations: [first, broken] });
  await expect(failing).rejects.toThrow("Migration 0002_broken of cups failed: division by zero");
  const repaired = { ...broken, up: "create table pots (id text)" };
  expect(await migrate({ ...options, migrations: [first, repaired] })).toEqual(["0002_broken"]);
});

test("a migration releases its place in the lock queue of a table in use and succeeds later", async () => {
  await using database = await empty();
  const options = { url: database.url, contextName: "cups" };
  await migrate({ ...options, migrations: [first] });
  const user = new Client({ connectionString: database.url });
  const watcher = new Client({ connectionString: database.url });
  await Promise.all([user.connect(), watcher.connect()]);
  try {
    await user.query("begin; select * from cups");
    const migrating = migrate({ ...options, migrations: [first, second] });
    const waiting = "select from pg_locks where not granted";
    const isWaiting = async () => (await watcher.query(waiting)).rowCount === 1;
    await waitFor(isWaiting, { what: "the migration to wait for its lock" });
    await waitFor(async () => !(await isWaiting()), { what: "the migration to step back" });
    await user.query("commit");
    expect(await migrating).toEqual(["0002_size"]);
  } finally {
    await Promise.all([user.end(), watcher.end()]);
  }
});

test("a server older than PostgreSQL 17 is refused before a migration, and no service is ready with it", async () => {
  await using database = await empty();
  await setServerVersion(database, "16.4 (Debian 16.4-1)");
  const options = { url: database.url, contextName: "cups", migrations: [first] };
  const refusal =
    "The server is PostgreSQL 16.4 (Debian 16.4-1); Statehouse needs PostgreSQL 17 or newer.";
  await expect(migrate(options)).rejects.toThrow(refusal);
  const logger = createLogger({ service: "test", level: "silent" });
  await using opened = await openDatabase({ ...options, entities: [], logger });
  await expect(opened.ready()).rejects.toThrow(refusal);
  expect(await opened.missingMigrations()).toEqual([first.name]);
});

test("a database of a commit before version 0.1.0 is refused", async () => {
  await using database = await empty();
  await database.query("drop table schema_migrations");
  await database.query("create table schema_migrations (name text primary key)");
  await database.query("insert into schema_migrations values ('0001_init')");
  const migrating = migrate({ url: database.url, contextName: "cups", migrations: [first] });
  await expect(migrating).rejects.toThrow(refusal);
});

test("a database whose migration had other contents is refused, one of a later release is not", async () => {
  await using database = await empty();
  const options = { url: database.url, contextName: "cups" };
  await migrate({ ...options, migrations: [first, second] });
  expect(await migrate({ ...options, migrations: [first] })).toEqual([]);
  const changed = { ...first, up: "create table cups (id bigint primary key)" };
  await expect(migrate({ ...options, migrations: [changed] })).rejects.toThrow(refusal);
});
