import { AppError } from "@statehouse/errors";
import { type Database, openDatabase } from "@statehouse/postgres";
import { type FreshDatabase, freshDatabase } from "@statehouse/postgres/testing";
import { type Actor, createLogger, runAs, traceId, withServerSpan } from "@statehouse/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startAttempts } from "../attempts.ts";
import { type Audit, createAudit } from "../audit.ts";
import { recordChange } from "../changes.ts";
import { recordCommand } from "../command.ts";
import { auditMigrations } from "../migrations.ts";
import { maintainPartitions } from "../partitions.ts";
import { addressDigest } from "../record.ts";

const logger = createLogger({ service: "test", level: "silent" });
const alice: Actor = { type: "user", id: "user-alice", tokenId: "at-1", address: "192.0.2.7" };

let stack: AsyncDisposableStack;
let fresh: FreshDatabase;
let database: Database;
let audit: Audit;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const schema = { contextName: "audited", migrations: auditMigrations };
  fresh = stack.use(await freshDatabase(schema));
  database = stack.use(await openDatabase({ ...schema, url: fresh.url, entities: [], logger }));
  audit = createAudit(database, "audited");
});
afterEach(() => stack.disposeAsync());

const download = (id: string) => ({
  organization: "org-1",
  action: "state-version.download",
  resource: { type: "state-version", id },
});

interface Found {
  id: string;
  address: string | null;
  address_salt: Buffer | null;
  address_digest: Buffer | null;
  transaction: string;
}

const records = () =>
  fresh.query<Found & Record<string, unknown>>(
    "select * from audit_records order by recorded_at, id",
  );

test("a record names actor, token, address and request of the work", async () => {
  const request = await withServerSpan("GET /x", undefined, {}, () =>
    runAs(alice, async () => {
      await audit.write(download("sv-1"));
      return traceId();
    }),
  );
  const [record, ...more] = await records();
  expect(more).toEqual([]);
  expect(record).toMatchObject({
    organization: "org-1",
    actor_type: "user",
    actor_id: "user-alice",
    token_id: "at-1",
    address: "192.0.2.7",
    action: "state-version.download",
    resource_type: "state-version",
    resource_id: "sv-1",
    outcome: "succeeded",
    code: null,
    attempts: 1,
    request_id: request,
    batch: null,
  });
  expect(record?.address_digest).toEqual(
    addressDigest(record?.address_salt ?? Buffer.alloc(0), "192.0.2.7"),
  );
});

test("work without an actor is recorded as the work of the service", async () => {
  await audit.write({ organization: "", action: "run.report", resource: { type: "run" } });
  expect(await records()).toMatchObject([
    { organization: "_", actor_type: "service", actor_id: "audited", address: null },
  ]);
});

test("records that arrive together are committed together", async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `sv-${index}`);
  await Promise.all(ids.map((id) => audit.write(download(id))));
  const found = await records();
  expect(found).toHaveLength(20);
  expect(new Set(found.map(({ transaction }) => transaction)).size).toBe(1);
});

test("a change is recorded in its transaction only", async () => {
  const change = { action: "settings.update", resource: { type: "settings" } };
  await database.transaction((em) =>
    recordChange(em, { ...change, changedAttributes: ["planTimeout"] }),
  );
  await expect(
    database.transaction(async (em) => {
      await recordChange(em, change);
      throw new Error("rolled back");
    }),
  ).rejects.toThrow("rolled back");
  expect(await records()).toMatchObject([{ changed_attributes: ["plan-timeout"] }]);
});

test("a write fails with unavailable if the table cannot be written", async () => {
  await fresh.query("alter table audit_records rename to away");
  const error = await audit.write(download("sv-1")).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AppError);
  expect(error).toMatchObject({ kind: "unavailable", reason: "audit_trail" });
  await fresh.query("alter table away rename to audit_records");
  await audit.write(download("sv-2"));
  expect(await records()).toMatchObject([{ resource_id: "sv-2" }]);
});

test("equal refused attempts of a minute are one row with their number", async () => {
  const attempt = {
    action: "workspace-lock.lock",
    resource: { type: "workspace" },
    code: "forbidden",
  };
  for (let times = 0; times < 7; times++) runAs(alice, () => audit.refused(attempt));
  await audit.writeAttempts();
  runAs(alice, () => audit.refused(attempt));
  audit.signInFailed("198.51.100.1");
  await audit.writeAttempts();
  const rows = await fresh.query<{ actor_id: string; attempts: number }>(
    "select actor_id, address, action, sum(attempts)::int as attempts from audit_attempts group by 1, 2, 3 order by 1",
  );
  expect(rows).toEqual([
    {
      actor_id: "",
      address: "198.51.100.1",
      action: "authentication.sign-in",
      attempts: 1,
    },
    { actor_id: "user-alice", address: "192.0.2.7", action: "workspace-lock.lock", attempts: 8 },
  ]);
});

test("attempts that cannot be written are written later", async () => {
  const attempt = (code: string) => ({ action: "x.y", resource: { type: "x" }, code });
  await fresh.query("alter table audit_attempts rename to away");
  runAs(alice, () => audit.refused(attempt("forbidden")));
  await expect(audit.writeAttempts()).rejects.toThrow("audit_attempts");
  runAs(alice, () => audit.refused(attempt("forbidden")));
  await fresh.query("alter table away rename to audit_attempts");
  await audit.writeAttempts();
  expect(await fresh.query("select code, attempts from audit_attempts")).toEqual([
    { code: "forbidden", attempts: 2 },
  ]);
});

test("a bounded number of attempts is kept in memory, and the number of all is recorded", async () => {
  for (let count = 0; count < 10_005; count++) audit.signInFailed(`address-${count}`);
  await audit.writeAttempts();
  const rows = await fresh.query(
    "select action, count(*)::int as rows, sum(attempts)::int as attempts from audit_attempts group by 1 order by 1",
  );
  expect(rows).toEqual([
    { action: "audit-trail.count-further", rows: 1, attempts: 5 },
    { action: "authentication.sign-in", rows: 10_000, attempts: 10_000 },
  ]);
});

test("attempts are written when the writer stops", async () => {
  const writer = startAttempts({ audit, logger });
  runAs(alice, () => audit.refused({ action: "x.y", resource: { type: "x" }, code: "forbidden" }));
  await writer[Symbol.asyncDispose]();
  expect(await fresh.query("select attempts from audit_attempts")).toEqual([{ attempts: 1 }]);
});

test("the removal of a user's addresses keeps their digests", async () => {
  const bob: Actor = { ...alice, id: "user-bob" };
  for (const actor of [alice, bob]) await runAs(actor, () => audit.write(download("sv-1")));
  runAs(alice, () => audit.refused({ action: "x.y", resource: { type: "x" }, code: "forbidden" }));
  const digests = new Map((await records()).map(({ id, address_digest }) => [id, address_digest]));
  await audit.removeAddresses("user-alice");

  const found = await records();
  expect(found).toMatchObject([
    { actor_id: "user-alice", address: null, address_salt: null },
    { actor_id: "user-bob", address: "192.0.2.7" },
    { actor_id: "user-alice", address: null, address_salt: null, outcome: "refused", attempts: 1 },
  ]);
  for (const { id, address_digest } of found.slice(0, 2)) {
    expect(address_digest).toEqual(digests.get(id));
  }
  expect(found[2]?.address_digest).toHaveLength(32);
  expect(await fresh.query("select from audit_attempts")).toEqual([]);
});

test("a command is recorded with its outcome", async () => {
  const operator: Actor = { type: "operator", id: "root" };
  const run = <T>(name: string, work: () => Promise<T>) =>
    runAs(operator, () => recordCommand({ name, database, service: "audited" }, work));
  expect(await run("collect", async () => 7)).toBe(7);
  expect(await run("move-blobs", async () => false)).toBe(false);
  const refused = new AppError("conflict", "last_administrator", "The last one.");
  await expect(run("user.revoke-admin", () => Promise.reject(refused))).rejects.toBe(refused);
  expect(await records()).toMatchObject([
    { action: "command.collect", actor_type: "operator", actor_id: "root", outcome: "succeeded" },
    { action: "command.move-blobs", outcome: "failed", code: null },
    { action: "command.user.revoke-admin", outcome: "failed", code: "last_administrator" },
  ]);
});

const partitions = async () =>
  (
    await fresh.query<{ name: string }>(
      `select relname as name from pg_inherits join pg_class on oid = inhrelid
       where inhparent = 'audit_records'::regclass order by 1`,
    )
  ).map(({ name }) => name);

const insertAt = (at: string, organization: string, batch: number | null) =>
  fresh.query(
    `insert into audit_records (recorded_at, id, organization, actor_type, actor_id, action,
       resource_type, changed_attributes, outcome, batch)
     values ($1, 'ae-1', $2, 'user', 'u', 'a.b', 'a', '{}', 'succeeded', $3)`,
    [at, organization, batch],
  );

const partitionOf = async (at: string) =>
  (
    await fresh.query<{ name: string }>(
      "select tableoid::regclass::text as name from audit_records where recorded_at = $1",
      [at],
    )
  ).map(({ name }) => name);

test("a month without partition is stored apart and moved once there is one", async () => {
  await insertAt("2031-05-03T10:00Z", "org-1", null);
  expect(await partitionOf("2031-05-03T10:00Z")).toEqual(["audit_records_default"]);
  const options = { database, retentionDays: 90, logger };
  for (let times = 0; times < 2; times++) {
    await maintainPartitions(options, new Date("2031-04-30T23:59Z"));
  }
  expect(await partitionOf("2031-05-03T10:00Z")).toEqual(["audit_records_2031_05"]);
  expect(await partitions()).toEqual(
    expect.arrayContaining(["audit_records_2031_04", "audit_records_2031_06"]),
  );
});

test("retention drops whole months of sealed records and keeps the anchor of each organization", async () => {
  const options = { database, retentionDays: 30, logger };
  await maintainPartitions(options, new Date("2020-01-15T00:00Z"));
  const months = ["2020-01", "2020-02", "2020-03"];
  for (const [index, month] of months.entries()) {
    await insertAt(`${month}-10T00:00Z`, "org-1", index + 1);
    await fresh.query(
      `insert into audit_batches values ('org-1', $1, $2, $2, $2, 1, '', '', '', '', '')`,
      [index + 1, `${month}-10T00:00Z`],
    );
  }
  await fresh.query(
    `insert into audit_batches select 'org-idle', n, at, at, at, 1, '', '', '', '', ''
     from generate_series(1, 2) n, (select timestamptz '2020-01-05Z' as at)`,
  );
  const batches = async () =>
    (
      await fresh.query<{ key: string }>(
        "select organization || ' ' || number as key from audit_batches order by 1",
      )
    ).map(({ key }) => key);

  await maintainPartitions(options, new Date("2020-03-20T00:00Z"));
  expect(await partitions()).not.toContain("audit_records_2020_01");
  expect(await partitions()).toContain("audit_records_2020_02");
  expect(await batches()).toEqual(["org-1 1", "org-1 2", "org-1 3", "org-idle 2"]);

  await fresh.query("update audit_records set batch = null where recorded_at < '2020-03-01Z'");
  await maintainPartitions(options, new Date("2020-06-20T00:00Z"));
  expect(await partitions(), "unsealed records are kept").toContain("audit_records_2020_02");

  await fresh.query("update audit_records set batch = 2 where recorded_at < '2020-03-01Z'");
  const chainSecondAt = (at: string) =>
    fresh.query(
      "update audit_batches set sealed_at = $1 where organization = 'org-1' and number = 2",
      [at],
    );
  await chainSecondAt("2020-03-11Z");
  await maintainPartitions(options, new Date("2020-04-10T00:00Z"));
  expect(await partitions(), "records that were sealed late are kept").toContain(
    "audit_records_2020_02",
  );

  await chainSecondAt("2020-03-10Z");
  await maintainPartitions(options, new Date("2020-04-10T00:00Z"));
  expect(await partitions()).not.toContain("audit_records_2020_02");
  expect(await batches()).toEqual(["org-1 2", "org-1 3", "org-idle 2"]);
});
