import { openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../../migrations.ts";
import { createLeases, createReads, entities, listing, transactions } from "../../nouns.ts";
import { madeVersion } from "../made-version.ts";

const stack = new AsyncDisposableStack();
let client: Client;
const statements: string[] = [];

// Inserts 20,000 workspaces with 5 versions each; the last version is current and has two outputs.
const rows = `
  insert into workspace_states (workspace_id, organization_id, project_id, placement_version,
      sealed_epoch, current_version_id, current_position, resource_count, revision)
    select 'ws-' || w, 'org-' || w / 100, 'prj-1', 1, 0, 'sv-' || w * 5 + 4, 4, 0, 0
    from generate_series(0, 19999) w;
  insert into state_versions (id, workspace_id, position, lock_epoch, serial, md5, lineage, status,
      intermediate, created_at, created_by_type, created_by_id, expires_at, blob_key, size, sha256,
      outputs_given, resources_processed, resource_count, extraction_attempts)
    select 'sv-' || v, 'ws-' || v / 5, v % 5, v % 5, v % 5, 'm', '',
      case when v % 5 = 0 then 'discarded' else 'finalized' end,
      false, now(), 'user', 'user-1', now(), 'blob-' || v, 1, 's', false, true, 0, 1
    from generate_series(0, 99999) v;
  -- Disables the checks of foreign keys, which would take most of the time of the insertion.
  set session_replication_role = replica;
  insert into state_version_outputs
    select 'wsout-' || v || 'x' || o, 'sv-' || v, o, 'o' || o, false, 'string', '"string"', '"v"', null
    from generate_series(4, 99999, 5) v, generate_series(0, 1) o;
  insert into workspace_resources (workspace_id, id, address, name, module, provider, type, digest,
      created_at, updated_at, modified_by)
    select 'ws-' || r / 5, 'wsr-' || r, 'a.r' || r, 'r' || r, 'root', 'p', 'a', 'd', now(), now(), 'sv-1'
    from generate_series(0, 99999) r;
  insert into state_version_digests
    select 'sv-' || v, 'k', '{"a.b":"d"}', '{"o":["d",false]}' from generate_series(0, 99999) v
    where v <> 29;
  insert into organization_billings select 'org-' || o, true, 1 from generate_series(1, 20000) o;
  insert into blobs select 'blob-' || v, 'ws-' || v / 5, 1, 's', 1, now()
    from generate_series(0, 99999) v;
  insert into blob_deletions select 'gone-' || i, now() + interval '1 day'
    from generate_series(1, 20000) i;
  reset session_replication_role;
  analyze`;

beforeAll(async () => {
  const { url } = stack.use(await freshDatabase({ contextName: "state", migrations }));
  client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
  await client.connect();
  await client.query(rows);
  const database = stack.use(
    await openDatabase({
      contextName: "state",
      url,
      entities,
      migrations,
      logger: createLogger({ service: "test", level: "silent" }),
      onStatement: (sql) => void statements.push(sql),
    }),
  );
  const cipher = { encryptColumn: () => "", decryptColumn: () => "", isStale: () => false };
  const reads = createReads(database, cipher);
  const leases = createLeases(database);
  const now = new Date();
  const page = { number: 3, size: 20 };
  const list = listing({ database, source: "urn:test" });
  const filters = ["statehouse.*.*.*.*.org-7"];
  let cursor = "";
  do {
    ({ nextCursor: cursor } = await list({ filters, cursor, maxBytes: 1e6 }));
  } while (cursor !== "");
  await reads.workspaceStates.find("ws-5");
  await reads.workspaceStates.findWithCurrentVersion("ws-5");
  await reads.workspaceStates.listRecords(["ws-5", "ws-6"]);
  await reads.workspaceStates.listRecordsAfter("ws-5", 100);
  await reads.workspaceStates.listWithCurrentVersionAfter("ws-5", 500);
  await reads.workspaceStates.listToPurge(20, ["ws-5"]);
  await reads.stateVersions.getStored("sv-29");
  await reads.stateVersions.get("sv-29");
  await reads.stateVersionDigests.changes("sv-29", "sv-34");
  await reads.stateVersions.batch(["sv-29", "sv-34"]);
  expect((await reads.stateVersions.list("ws-5", undefined, page))?.page.total).toBe(5);
  expect((await reads.stateVersions.list("ws-5", "discarded", page))?.page.total).toBe(1);
  await reads.stateVersions.listExpired(now, 100);
  await reads.stateVersions.listSoftDeleted(now, 100);
  const sort = { field: "name", descending: true } as const;
  await reads.workspaceResources.list("ws-5", { search: "", sort: undefined, page });
  await reads.workspaceResources.list("ws-5", { search: "r", sort, page });
  await reads.stateVersionOutputs.get("wsout-29x1");
  await reads.stateVersionOutputs.list("sv-29", page);
  const first = { number: 1, size: 20 };
  expect(
    (await reads.stateVersionOutputs.findCurrent("ws-5", first))?.current?.outputs,
  ).toMatchObject({
    rows: [{ name: "o0" }, { name: "o1" }],
    total: 2,
  });
  await reads.stateVersionOutputs.listOfVersions(["sv-29", "sv-34"]);
  await reads.stateVersionOutputs.listOfWorkspaces(["ws-5", "ws-6"]);
  await reads.blobs.listOwned(["blob-1", "blob-2"]);
  await reads.blobs.listAfter("blob-1", 500);
  await reads.contents.listAfter("sv-29", 500);
  await reads.currentStates.listAfter("ws-5", 500);
  await reads.contents.listOf(["sv-29", "sv-34"]);
  await reads.contents.listKnownKeys(["blob-1", "blob-2"]);
  const due = {
    organizationId: "org-1",
    rule: "policy",
    before: new Date(now.getTime() + 1000),
  } as const;
  const searches = ["ws-5", "ws-7"].map((workspaceId) => ({
    due: { workspaceId: workspaceId as `ws-${string}`, ...due },
    after: 1n,
  }));
  expect(await reads.retention.listDue(searches, 2)).toHaveLength(4);
  await leases.extractions.claim(now, now);
  const claimed = {
    versionId: "sv-29",
    workspaceId: "ws-5",
    blobKey: "",
    size: 1,
    attempt: 1,
  } as const;
  await leases.extractions.renew(claimed, now);
  await leases.blobDeletions.claim(now, now, 100);
  await leases.blobDeletions.confirm(["gone-1"]);
  await transactions(
    database,
    cipher,
  )(async (tx) => {
    await tx.workspaceStates.sealWithoutOpenVersions("ws-5", 1n);
  });
  const write = transactions(database, cipher);
  await write(async (tx) => {
    await tx.stateVersions.getForCreation("ws-newer", { epoch: 1n, serial: 1n });
    const { workspaceState, known } = await tx.stateVersions.getForCreation("ws-8", {
      ...{ epoch: 3n, serial: 3n },
    });
    expect(known.map(({ id }) => id)).toEqual(["sv-43", "sv-44"]);
    const created = madeVersion({ id: "sv-created", workspaceId: "ws-8", position: 9n });
    const view = await tx.stateVersions.commit(workspaceState, created);
    expect(view).toMatchObject({ id: "sv-created", previousVersionId: "sv-44", md5: "" });
  });
  await write(async (tx) => {
    const { workspaceState, version } = await tx.stateVersions.findWithWorkspaceState(
      "ws-8",
      "sv-44",
    );
    if (!workspaceState || !version) throw new Error("a row is missing");
    await tx.stateVersions.commit(workspaceState, version);
  });
  await write(async (tx) => {
    const { workspaceState, known } = await tx.stateVersions.getForCreation("ws-8", {
      ...{ epoch: 3n, serial: 3n },
    });
    const [version] = known;
    if (!version) throw new Error("a row is missing");
    await tx.stateVersions.commit(workspaceState, version);
  });
  await write(async (tx) => {
    await tx.workspaceStates.getOrInsertForUpdate("ws-new");
    await tx.stateVersions.listBeforeRollback("ws-5", { epoch: 3n, sourceId: "sv-27" });
    await tx.stateVersions.listBeforeSealing("ws-5", 2n);
    const copy = madeVersion({
      ...{ id: "sv-copy", workspaceId: "ws-5", position: 9n, serial: 9n },
      blobKey: "blob-28",
    });
    await tx.stateVersions.saveCopy(copy, "sv-29");
    await tx.stateVersions.setInventory("sv-29", {
      resources: "[]",
      modules: "{}",
      providers: "{}",
      listed: null,
      resourceEntries: 0,
    });
    await tx.stateVersionDigests.save("sv-29", { keyId: "k", resources: "{}", outputs: "{}" });
    const compared = madeVersion({ id: "sv-29", workspaceId: "ws-5", position: 4n });
    await tx.stateVersionDigests.compareWithPrevious(compared);
    await tx.stateVersions.markContentsDeleted(["sv-29"]);
    await tx.workspaceResources.replace(
      { id: "sv-29", workspaceId: "ws-5", createdAt: now },
      '[{"address":"a.b","name":"b","module":"root","provider":"p","type":"a","digest":"d"}]',
    );
    await tx.workspaceResources.removeAll("ws-6");
    await tx.organizationBilling.set({ organizationId: "org-5", usageBased: false, revision: 2n });
    await tx.organizationBilling.remove(["org-6"]);
    await tx.blobs.lock(["blob-31", "blob-32"]);
    await tx.retention.listForUpdate(["sv-31", "sv-32"]);
    await tx.retention.listShared(["sv-31", "sv-32"]);
    expect(await tx.retention.findStartOfLast("org-1", 100)).toBeInstanceOf(Date);
    await tx.stateVersionOutputs.removeOf(["sv-31"]);
    await tx.stateVersions.remove(["sv-31"]);
    const { blobKeys } = await tx.stateVersions.removeFirst("ws-6", 50);
    await tx.blobs.release(blobKeys, { dueAt: now, permanent: false });
  });
});
afterAll(() => stack.disposeAsync());

test("no statement makes a sequential scan with 100,000 versions", async () => {
  // Statements of the ORM are excluded: they contain values instead of `$1` and select by primary key.
  const ours = [...new Set(statements)].filter((sql) => sql.includes("$1"));
  expect(ours.length).toBeGreaterThan(20);
  for (const sql of ours) {
    const { rows: lines } = await client.query(`explain (generic_plan) ${sql}`);
    const plan = lines.map((line) => String(line["QUERY PLAN"])).join("\n");
    expect(plan, sql).not.toMatch(/Seq Scan/);
  }
});
