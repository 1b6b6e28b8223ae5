import { generateKeyPairSync } from "node:crypto";
import { decode, eventMigrations } from "@statehouse/events";
import { type Database, openDatabase, queryIn } from "@statehouse/postgres";
import { type FreshDatabase, freshDatabase } from "@statehouse/postgres/testing";
import { AuditHeadSealedSchema } from "@statehouse/proto/statehouse/state/v1/events";
import { createLogger, runAs } from "@statehouse/runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { removeAddresses } from "../addresses.ts";
import { type Audit, createAudit } from "../audit.ts";
import { checkSignature, type Key } from "../chain.ts";
import { chainRecords } from "../chaining.ts";
import { auditMigrations } from "../migrations.ts";
import { maintainPartitions } from "../partitions.ts";
import { unchainedRecords, verifyChains } from "../stored-chain.ts";
import { chainWhenReady } from "../testing.ts";
import type { KeptHead } from "../verify.ts";

const logger = createLogger({ service: "test", level: "silent" });
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const key: Key = { ...privateKey.export({ format: "jwk" }), kid: "k1" };
const keys = { state: [{ ...publicKey.export({ format: "jwk" }), kid: "k1" }] };
const alice = { type: "user", id: "user-alice", tokenId: "at-1", address: "192.0.2.7" } as const;

let stack: AsyncDisposableStack;
let fresh: FreshDatabase;
let database: Database;
let audit: Audit;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const migrations = [...eventMigrations, ...auditMigrations];
  const schema = { contextName: "sealed", migrations };
  fresh = stack.use(await freshDatabase(schema));
  database = stack.use(await openDatabase({ ...schema, url: fresh.url, entities: [], logger }));
  audit = createAudit(database, "state");
});
afterEach(async () => {
  vi.useRealTimers();
  await stack.disposeAsync();
});

const write = (id: string, organization = "org-1") =>
  runAs(alice, () =>
    audit.write({
      organization,
      action: "state-version.download",
      resource: { type: "state-version", id },
    }),
  );

const options = () => ({ database, service: "state", key, logger }) as const;
/** Runs one turn of the sealer, which possibly does not seal all records. */
const turn = (maxRecords?: number) => chainRecords({ ...options(), maxRecords });
const chain = (maxRecords?: number) => chainWhenReady({ ...options(), maxRecords });

async function verify({ heads = new Map<string, KeptHead>(), keptSince = new Date(0) } = {}) {
  const findings: string[] = [];
  const options = { service: "state", keys, heads, keptSince };
  const verified = await verifyChains(database, options, (finding) => findings.push(finding));
  return { findings, verified };
}

/** Returns the published heads, oldest first. */
async function publishedHeads() {
  const rows = await fresh.query<{ message: string; subject: string; revision: string }>(
    "select message, subject, revision from outbox order by id",
  );
  return rows.map(({ message }) => decode({ json: message }, AuditHeadSealedSchema));
}

/** Seals three batches of `org-1`. */
async function threeBatches() {
  for (const ids of [["sv-1", "sv-2"], ["sv-3"], ["sv-4"]]) {
    for (const id of ids) await write(id);
    await chain();
  }
  const heads = await publishedHeads();
  return new Map(
    heads.map(({ organization, revision, hash, sealedAt }) => [
      `state ${organization} ${revision}`,
      { hash, sealedAt },
    ]),
  );
}

test("records are sealed in one chain for each organization, and their signed heads published", async () => {
  await write("sv-1");
  await write("sv-2");
  await write("sv-1", "org-2");
  expect(await chain()).toBe(false);
  await write("sv-3");
  await chain();
  await chain();
  const heads = await publishedHeads();
  expect(
    heads.map(({ organization, revision, records }) => [organization, revision, records]),
  ).toEqual([
    ["org-1", 1n, 2],
    ["org-2", 1n, 1],
    ["org-1", 2n, 1],
  ]);
  for (const { $typeName: _, revision, organizationId: id, ...head } of heads) {
    expect(id).toBe(head.organization);
    expect(checkSignature({ ...head, number: Number(revision) }, keys)).toBe("valid");
    expect(checkSignature({ ...head, number: Number(revision) + 1 }, keys)).toBe("invalid");
  }
  expect(await verify()).toMatchObject({
    findings: [],
    verified: [
      { organization: "org-1", batches: 2, records: 3, last: 2 },
      { organization: "org-2", batches: 1, records: 1, last: 1 },
    ],
  });
});

test("a transaction that commits late is sealed by a later turn, together with what followed it", async () => {
  const inserted = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  const late = database.transaction(async (em) => {
    await queryIn(
      em,
      `insert into audit_records (id, organization, actor_type, actor_id, action, resource_type, changed_attributes, outcome)
       values ('ae-late', 'org-1', 'user', 'user-a', 'workspace.lock', 'workspace', '{}', 'succeeded')`,
    );
    inserted.resolve();
    await commit.promise;
  });
  await inserted.promise;
  await write("sv-1");
  await turn();
  expect(await publishedHeads()).toEqual([]);
  expect((await unchainedRecords(database)).records).toBe(1);
  commit.resolve();
  await late;
  await chain();
  expect(await publishedHeads()).toMatchObject([{ revision: 1n, records: 2 }]);
  const [first] = await fresh.query(
    "select id from audit_records where batch = 1 and position = 0",
  );
  expect(first).toEqual({ id: "ae-late" });
  expect((await verify()).findings).toEqual([]);
});

test("a transaction of another database delays nothing", async () => {
  const schema = { contextName: "other", migrations: eventMigrations };
  const { url } = stack.use(await freshDatabase(schema));
  const other = stack.use(await openDatabase({ ...schema, url, entities: [], logger }));
  await other.transaction(async (em) => {
    await queryIn(em, "select pg_current_xact_id()");
    await write("sv-1");
    await chain();
  });
  expect(await publishedHeads()).toMatchObject([{ revision: 1n, records: 1 }]);
});

test("transactions of another database that end during a turn delay nothing", async () => {
  const schema = { contextName: "other", migrations: eventMigrations };
  const { url } = stack.use(await freshDatabase(schema));
  const other = stack.use(await openDatabase({ ...schema, url, entities: [], logger }));
  let stopped = false;
  const shortTransactions = async () => {
    while (!stopped) await other.query("select pg_current_xact_id(), pg_sleep(random() / 50)");
  };
  const running = Promise.all(Array.from({ length: 20 }, shortTransactions));
  for (let number = 0; number < 100; number++) {
    await write(`sv-${number}`);
    await turn();
    expect.soft((await unchainedRecords(database)).records).toBe(0);
  }
  stopped = true;
  await running;
});

test("one turn seals a limited number of records", async () => {
  for (let number = 0; number < 7; number++) await write(`sv-${number}`);
  expect(await chain(3)).toBe(true);
  expect(await chain(3)).toBe(true);
  expect(await chain(3)).toBe(false);
  expect((await publishedHeads()).map(({ records }) => records)).toEqual([3, 3, 1]);
  expect((await verify()).findings).toEqual([]);
});

test("only one of two replicas seals at a time", async () => {
  for (let number = 0; number < 40; number++) await write(`sv-${number}`);
  const replica = async (): Promise<void> => {
    while ((await unchainedRecords(database)).records > 0) await turn(5);
  };
  await Promise.all([replica(), replica(), replica()]);
  expect((await verify()).verified).toMatchObject([{ records: 40 }]);
  expect((await verify()).findings).toEqual([]);
});

test("refusals of minutes that ended become records", async () => {
  const attempt = {
    organization: "org-1",
    action: "workspace.lock",
    resource: { type: "workspace" },
    code: "forbidden",
  };
  runAs(alice, () => audit.refused(attempt));
  runAs(alice, () => audit.refused(attempt));
  await audit.writeAttempts();
  await chain();
  expect(await fresh.query("select from audit_records")).toEqual([]);
  await fresh.query("update audit_attempts set minute = minute - interval '1 minute'");
  await chain();
  await chain();
  expect(await fresh.query("select outcome, code, attempts, batch from audit_records")).toEqual([
    { outcome: "refused", code: "forbidden", attempts: 2, batch: "1" },
  ]);
  expect((await verify()).findings).toEqual([]);
});

test("an edited row is found and named", async () => {
  await threeBatches();
  const [edited] = await fresh.query<{ id: string }>(
    "update audit_records set actor_id = 'user-mallory' where resource_id = 'sv-2' returning id",
  );
  expect((await verify()).findings).toEqual([
    `Record ${edited?.id} in batch 1 of org-1 was edited.`,
  ]);
});

test("a deleted row is found and named", async () => {
  await threeBatches();
  await fresh.query("delete from audit_records where resource_id = 'sv-1'");
  expect((await verify()).findings).toEqual(["Record 1 of 2 in batch 1 of org-1 was deleted."]);
});

test("a row that is taken out of its batch, edited and sealed in a new batch is found", async () => {
  await threeBatches();
  await fresh.query(
    "update audit_records set actor_id = 'user-mallory', batch = null, position = null where resource_id = 'sv-2'",
  );
  await chain();
  expect((await verify()).findings).toEqual(["Record 2 of 2 in batch 1 of org-1 was deleted."]);
});

test("a chain that was recomputed with the service's own key is found by the heads kept outside", async () => {
  const heads = await threeBatches();
  expect((await verify({ heads })).findings).toEqual([]);
  // Simulates an attacker who has the database and the key, edits a row and recomputes the whole chain.
  await fresh.query(
    "update audit_records set actor_id = 'user-mallory' where resource_id = 'sv-2'",
  );
  await fresh.query("update audit_records set batch = null, position = null");
  await fresh.query("delete from audit_batches");
  await chain();
  expect((await verify()).findings).toEqual([]);
  expect((await verify({ heads })).findings).toEqual([
    "Batch 1 of org-1 differs from its head that was kept outside the database: the chain was recomputed.",
    "Batch 2 of org-1 was sealed, but is missing.",
    "Batch 3 of org-1 was sealed, but is missing.",
  ]);
});

test("rows of deleted batches are found", async () => {
  const heads = await threeBatches();
  await fresh.query("delete from audit_batches where number = 3");
  const [{ id } = { id: "" }] = await fresh.query<{ id: string }>(
    "select id from audit_records where batch = 3",
  );
  const orphan = `Record ${id} names batch 3 of org-1, but that batch does not exist.`;
  expect((await verify()).findings).toEqual([orphan]);
  await fresh.query("delete from audit_records where batch = 3");
  expect((await verify()).findings).toEqual([]);
  expect((await verify({ heads })).findings).toEqual([
    "Batch 3 of org-1 was sealed, but is missing.",
  ]);
});

test("the removal of a user's addresses keeps the chain valid", async () => {
  await threeBatches();
  await removeAddresses(database, alice.id);
  expect(await fresh.query("select from audit_records where address is not null")).toEqual([]);
  expect(await verify()).toMatchObject({ findings: [], verified: [{ records: 4 }] });
});

test("the chain is valid after retention dropped its oldest months", async () => {
  const at = (month: string) => `2025-${month}-15T00:00:00Z`;
  await fresh.query("select create_audit_partitions($1)", [at("01")]);
  await fresh.query("select create_audit_partitions($1)", [at("02")]);
  for (const [index, month] of ["01", "01", "02", "03"].entries()) {
    await write(`sv-${index}`);
    await fresh.query("update audit_records set recorded_at = $1 where batch is null", [at(month)]);
    vi.setSystemTime(at(month));
    await chain();
  }
  vi.useRealTimers();
  await write("sv-now");
  await chain();
  expect(await verify()).toMatchObject({ findings: [], verified: [{ batches: 5, records: 5 }] });
  const retentionDays = Math.ceil((Date.now() - Date.parse("2025-03-02")) / 86_400_000);
  await maintainPartitions({ database, retentionDays, logger }, new Date());
  const keptSince = new Date(Date.now() - retentionDays * 86_400_000);
  expect(await verify({ keptSince })).toMatchObject({
    findings: [],
    verified: [{ batches: 3, records: 2, withoutRecords: 1, last: 5 }],
  });
  await fresh.query("delete from audit_records where resource_id = 'sv-3'");
  expect((await verify({ keptSince })).findings).toEqual([
    "All 1 records of batch 4 of org-1 were deleted.",
  ]);
  await fresh.query("delete from audit_batches where number < 5");
  expect((await verify({ keptSince })).findings).toEqual(["Batch 4 of org-1 is missing."]);
});
