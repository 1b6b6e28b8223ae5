import { openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../../migrations.ts";
import { entities } from "../../nouns.ts";
import { type RetentionSearch, retention } from "../../retention/store.ts";

const PATIENCE_MS = 300_000;
const stack = new AsyncDisposableStack();
let client: Client;
let url: string;

// Inserts 1,000 workspaces with 1,000 versions each. The oldest tenth is already deleted, and the next tenth is due.
// The indexes are created after the insertion, because maintaining them during the insertion takes longer.
const rows = `
  -- Disables the checks of foreign keys, which would take most of the time of the insertion.
  set session_replication_role = replica;
  insert into workspace_states (workspace_id, organization_id, project_id, placement_version,
      sealed_epoch, current_version_id, current_position, resource_count, revision)
    select 'ws-' || w, 'org-' || w / 100, 'prj-1', 1, 0, 'sv-' || w || 'x1000', 1000, 0, 0
    from generate_series(1, 1000) w;
  alter table state_versions drop constraint state_versions_creation;
  drop index state_versions_status, state_versions_position, state_versions_contents;
  insert into state_versions (id, workspace_id, position, lock_epoch, serial, md5, lineage, status,
      intermediate, created_at, created_by_type, created_by_id, expires_at, blob_key, size, sha256,
      outputs_given, resources_processed, resource_count, extraction_attempts)
    select 'sv-' || w || 'x' || v, 'ws-' || w, v, v, v, 'm', '',
      case when v <= 100 then 'backing_data_permanently_deleted' else 'finalized' end,
      false, now() - (1000 - v) * interval '1 day', 'user', 'user-1', now(),
      case when v > 100 then 'blob-' || w || 'x' || v end, 1, 's', false, true, 0, 1
    from generate_series(1, 1000) w, generate_series(1, 1000) v;
  create unique index state_versions_position on state_versions (workspace_id, position);
  create index state_versions_contents on state_versions (workspace_id, position)
    include (id, created_at) where blob_key is not null;
  reset session_replication_role;
  analyze`;

beforeAll(async () => {
  url = stack.use(await freshDatabase({ contextName: "state", migrations })).url;
  client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
  await client.connect();
  await client.query(rows);
}, PATIENCE_MS);
afterAll(() => stack.disposeAsync());

test(
  "due versions among 1,000,000 are read through an index",
  async () => {
    const sent: string[] = [];
    await using database = await openDatabase({
      contextName: "state",
      url,
      entities,
      migrations,
      logger: createLogger({ service: "test", level: "silent" }),
      onStatement: (sql) => void sent.push(sql),
    });
    // The versions that have contents and are older than 799.5 days are at the positions 101 to 200.
    const before = new Date(Date.now() - 799.5 * 86_400_000);
    const searches = Array.from({ length: 500 }, (_, index): RetentionSearch => {
      const workspaceId = `ws-${index + 1}` as const;
      return { due: { workspaceId, organizationId: "", rule: "policy", before }, after: 0n };
    });
    const found = await retention.reads(database).listDue(searches, 1000);
    expect(found).toHaveLength(50_000);
    expect(found[0]?.position).toBe(101n);
    const { rows: plan } = await client.query(`explain (analyze, format json) ${sent.at(-1)}`, [
      searches.map(({ due }) => due.workspaceId),
      searches.map(() => before),
      searches.map(() => 0),
      1000,
    ]);
    const scans = scansOf(plan[0]["QUERY PLAN"][0].Plan).filter(
      (scan) => scan["Relation Name"] === "state_versions",
    );
    expect(scans.map((scan) => scan["Index Name"])).toEqual(["state_versions_contents"]);
    // The scan returns only due versions: the index does not contain deleted versions, and the condition on the
    // creation time excludes recent ones.
    expect(scans[0]?.["Actual Rows"]).toBe(100);
  },
  PATIENCE_MS,
);

interface Scan {
  "Relation Name"?: string;
  "Index Name"?: string;
  "Actual Rows"?: number;
  Plans?: Scan[];
}

const scansOf = (node: Scan): Scan[] => [node, ...(node.Plans ?? []).flatMap(scansOf)];
