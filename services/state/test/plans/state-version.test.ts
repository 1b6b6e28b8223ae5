import { openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { releaseBlobs, shareBlobs } from "../../store/blob-references.ts";
import { removeVersions } from "../../store/collection.ts";
import { entities } from "../../store/entities.ts";
import { copyFindings, endContents } from "../../store/findings.ts";
import { createJobs } from "../../store/jobs.ts";
import { migrations } from "../../store/migrations.ts";
import { createReads } from "../../store/reads.ts";
import { createRetentionReads } from "../../store/retention.ts";
import { createWrites } from "../../store/writes.ts";

const stack = new AsyncDisposableStack();
let client: Client;
const statements: string[] = [];

// 20,000 workspaces of 5 versions; of each the last is current, with two outputs.
const rows = `
  insert into workspace_state (workspace_id, organization_id, project_id, placement_version,
      sealed_epoch, current_version_id, current_position, resource_count, revision)
    select 'ws-' || w, 'org-' || w / 100, 'prj-1', 1, 0, 'sv-' || w * 5 + 4, 4, 0, 0
    from generate_series(0, 19999) w;
  insert into state_version (id, workspace_id, position, lock_epoch, serial, md5, lineage, status,
      intermediate, created_at, created_by_type, created_by_id, expires_at, blob_key, size, sha256,
      outputs_given, resources_processed, resource_count, extraction_attempts)
    select 'sv-' || v, 'ws-' || v / 5, v % 5, v % 5, v % 5, 'm', '',
      case when v % 5 = 0 then 'discarded' else 'finalized' end,
      false, now(), 'user', 'user-1', now(), 'blob-' || v, 1, 's', false, true, 0, 1
    from generate_series(0, 99999) v;
  insert into state_version_output
    select 'wsout-' || v || 'x' || o, 'sv-' || v, o, 'o' || o, false, 'string', '"string"', '"v"', null
    from generate_series(4, 99999, 5) v, generate_series(0, 1) o;
  insert into workspace_resource (workspace_id, id, address, name, module, provider, type, digest,
      created_at, updated_at, modified_by)
    select 'ws-' || r / 5, 'wsr-' || r, 'a.r' || r, 'r' || r, 'root', 'p', 'a', 'd', now(), now(), 'sv-1'
    from generate_series(0, 99999) r;
  insert into organization_billing select 'org-' || o, true, 1 from generate_series(1, 20000) o;
  insert into blob select 'blob-' || v, 'ws-' || v / 5, 1, 's', 1, now()
    from generate_series(0, 99999) v;
  insert into blob_deletions select 'gone-' || i, now() + interval '1 day'
    from generate_series(1, 20000) i;
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
  const sealer = { seal: () => "", unseal: () => "", isStale: () => false };
  const reads = createReads(database, sealer);
  const jobs = createJobs(database);
  const now = new Date();
  const slice = { limit: 20, offset: 40 };
  await reads.workspace("ws-5");
  await reads.currentVersion("ws-5");
  await reads.version("sv-29");
  await reads.versions(["sv-29", "sv-34"]);
  expect((await reads.listVersions("ws-5", undefined, slice)).total).toBe(5);
  expect((await reads.listVersions("ws-5", "discarded", slice)).total).toBe(1);
  const sort = { field: "name", descending: true } as const;
  await reads.listResources("ws-5", { search: "", sort: undefined, ...slice });
  await reads.listResources("ws-5", { search: "r", sort, ...slice });
  await reads.output("wsout-29x1");
  await reads.listOutputs("sv-29", slice);
  await reads.outputsOfVersions(["sv-29", "sv-34"]);
  await reads.outputsOfWorkspaces(["ws-5", "ws-6"]);
  await jobs.claimExtraction(now, now);
  const claimed = {
    versionId: "sv-29",
    workspaceId: "ws-5",
    blobKey: "",
    size: 1,
    attempt: 1,
  } as const;
  await jobs.renewExtraction(claimed, now);
  await jobs.expiredVersions(now, 100);
  await jobs.softDeletedVersions(now, 100);
  await jobs.uncollectedWorkspaces(20);
  const retention = createRetentionReads(database);
  await retention.workspacesAfter("ws-5", 500);
  const due = {
    organizationId: "org-1",
    rule: "policy",
    before: new Date(now.getTime() + 1000),
  } as const;
  const looks = ["ws-5", "ws-7"].map((workspaceId) => ({
    due: { workspaceId: workspaceId as `ws-${string}`, ...due },
    after: 1n,
  }));
  expect(await retention.dueVersions(looks, 2)).toHaveLength(4);
  await jobs.ownedBlobs(["blob-1", "blob-2"]);
  await jobs.takeBlobDeletions(now, now, 100);
  await jobs.confirmBlobDeletions(["gone-1"]);
  await database.transaction(async (em) => {
    const writes = createWrites(em, sealer);
    await writes.versionsBeforeCreation("ws-5", { epoch: 3n, serial: 3n });
    await writes.versionsBeforeRollback("ws-5", { epoch: 3n, sourceId: "sv-27" });
    await writes.unsettledVersions("ws-5", 2n);
    await copyFindings(em, sealer, "sv-29", "sv-28");
    await endContents(em, ["sv-29"]);
    await shareBlobs(em, ["blob-28"]);
    await writes.setResources(
      { id: "sv-29", workspaceId: "ws-5", createdAt: now },
      '[{"address":"a.b","name":"b","module":"root","provider":"p","type":"a","digest":"d"}]',
    );
    await writes.removeResources("ws-6");
    await writes.setBilling({ organizationId: "org-5", usageBased: false, revision: 2n });
    await writes.removeBilling("org-6");
    await writes.holdBlobs(["blob-31", "blob-32"]);
    await writes.sharedVersions(["sv-31", "sv-32"]);
    expect(await writes.lastStatesBegin("org-1", 100)).toBeInstanceOf(Date);
    await writes.forgetVersions(["sv-31"]);
    const { blobKeys } = await removeVersions(em, "ws-6", 50);
    await releaseBlobs(em, blobKeys, now);
  });
});
afterAll(() => stack.disposeAsync());

test("no statement of ours reads a table from end to end, at 100,000 versions", async () => {
  // The ORM's statements have values in them and ask by primary key.
  const ours = [...new Set(statements)].filter((sql) => sql.includes("$1"));
  expect(ours.length).toBeGreaterThan(20);
  for (const sql of ours) {
    const { rows: lines } = await client.query(`explain (generic_plan) ${sql}`);
    const plan = lines.map((line) => String(line["QUERY PLAN"])).join("\n");
    expect(plan, sql).not.toMatch(/Seq Scan/);
  }
});
