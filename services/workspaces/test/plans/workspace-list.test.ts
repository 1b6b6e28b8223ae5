import { freshDatabase } from "@statehouse/postgres/testing";
import { proves } from "@statehouse/testing/proves";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../../migrations.ts";
import type { ReadScope } from "../../read-scope-store.ts";
import { createWorkspaceSearch } from "../../workspace/list-store.ts";
import type { WorkspaceSearch } from "../../workspace/search-store.ts";
import { insertOrganization, workspaceDefaults } from "../rows.ts";

// Inserts 100,000 workspaces in 500 projects of one organization, and 2,000 in another. Half of the workspaces have the
// flat tag `common`, and one in a thousand has `rare`. One in five has the binding `env=prod`, which two projects also
// have.
const rows = `
  -- Skips the checks of foreign keys, which would take most of the time of the insertion.
  set session_replication_role = replica;
  -- The index is created again below, because maintaining it during the insertion takes longest.
  drop index workspaces_name_trigram;
  insert into projects (id, organization_id, name, revision, created_at, updated_at)
    select 'prj-' || p, case when p < 500 then 'org-1' else 'org-2' end, 'project ' || p, 1, now(), now()
    from generate_series(0, 509) p;
  insert into workspaces (id, organization_id, project_id, name, created_at, latest_change_at,
      current_run_created_at, current_run_status, lock_holder_type, lock_holder_id, lock_reason, lock_since,
      lock_epoch, ${workspaceDefaults.columns})
    select 'ws-' || w, case when w < 100000 then 'org-1' else 'org-2' end,
      'prj-' || case when w < 100000 then w % 500 else 500 + w % 10 end,
      (array['net', 'app', 'data', 'edge'])[1 + w % 4] || '-' || md5(w::text) || '-' || w,
      now() - w * interval '1 second',
      case when w % 2 = 0 then now() - (w % 1000) * interval '1 minute' end,
      case when w % 10 = 0 then now() - (w % 777) * interval '1 minute' end,
      case when w % 10000 = 1 then 'planning' when w % 10 = 0 then 'applied' end,
      case when w % 10000 = 3 then 'user' end, case when w % 10000 = 3 then 'user-1' end,
      case when w % 10000 = 3 then '' end, case when w % 10000 = 3 then now() end,
      case when w % 10000 = 3 then 1 end,
      ${workspaceDefaults.values}
    from generate_series(0, 101999) w;
  create index workspaces_name_trigram on workspaces using gin (name gin_trgm_ops);
  insert into tag_bindings (id, organization_id, workspace_id, key, value, through_tags, created_at)
    select 'tb-' || w || key, 'org-1', 'ws-' || w, key, value, value = '', now()
    from generate_series(0, 99999) w,
      (values ('common', '', 2), ('rare', '', 1000), ('env', 'prod', 5)) b (key, value, one_in)
    where w / 4 % one_in = 0;
  insert into tag_bindings (id, organization_id, project_id, key, value, through_tags, created_at)
    select 'tb-prj-' || p, 'org-1', 'prj-' || p, 'env', 'prod', false, now() from generate_series(0, 1) p;
  insert into workspace_counts
    select organization_id, project_id, count(*) from workspaces group by 1, 2;
  reset session_replication_role`;

const stack = new AsyncDisposableStack();
let client: Client;

beforeAll(async () => {
  const { url } = stack.use(await freshDatabase({ contextName: "workspaces", migrations }));
  client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
  await client.connect();
  const sql = (text: string, values: unknown[] = []) => client.query(text, values);
  await insertOrganization(sql, { id: "org-1", name: "acme" });
  await insertOrganization(sql, { id: "org-2", name: "other" });
  await client.query(rows);
  await client.query("vacuum analyze");
});
afterAll(() => stack.disposeAsync());

const owner: ReadScope = {
  memberOf: ["org-1"],
  organizationIds: ["org-1"],
  projectIds: [],
  workspaceIds: [],
};
const confined: ReadScope = {
  memberOf: ["org-1"],
  organizationIds: [],
  projectIds: ["prj-3", "prj-4", "prj-5"],
  workspaceIds: [],
};

const everything: WorkspaceSearch = {
  organizationName: "acme",
  name: "",
  wildcardName: "",
  tags: [],
  excludedTags: [],
  tagged: [],
  taggedAny: false,
  currentRunStatuses: [],
  locked: undefined,
  projectId: "",
  sort: { key: "name", descending: false },
  page: { number: 1, size: 20 },
};

interface PlanNode {
  "Node Type": string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: PlanNode[];
}

/** Returns the number of rows that a plan read from tables and indexes, over all loops. */
function rowsSeen(node: PlanNode): number {
  const { "Node Type": type, "Actual Rows": kept, "Actual Loops": turns, Plans = [] } = node;
  const dropped =
    (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  const own = /^(Seq|Index|Index Only|Bitmap Heap) Scan$/.test(type) ? (kept + dropped) * turns : 0;
  return own + Plans.map(rowsSeen).reduce((sum, seen) => sum + seen, 0);
}

/**
 * Maximum number of rows that the statement for a page may read: the workspaces of the page, their bindings, and some
 * skipped rows.
 */
const PAGE_SEES = 2500;

/**
 * Returns the result of a list, and the SQL statements of the list, each with its plan and the number of rows that it
 * read.
 */
async function plansOf(search: WorkspaceSearch, readable: ReadScope) {
  const plans: { sql: string; plan: string; seen: number }[] = [];
  const searchWorkspaces = createWorkspaceSearch({
    query: async <Row>(sql: string, values: readonly unknown[] = []) => {
      const explained = await client.query(`explain ${sql}`, [...values]);
      const plan = explained.rows.map((line) => line["QUERY PLAN"]).join("\n");
      const analyze = `explain (analyze, timing off, format json) ${sql}`;
      const [
        {
          "QUERY PLAN": [taken],
        },
      ] = (await client.query(analyze, [...values])).rows;
      plans.push({ sql, plan, seen: rowsSeen(taken.Plan) });
      return (await client.query(sql, [...values])).rows as Row[];
    },
  });
  return { found: await searchWorkspaces(search, readable), plans };
}

test.each<[string, Partial<WorkspaceSearch>, ownerFinds: number, ownerSees?: number]>([
  ["everything", {}, 100_000],
  // The statement for a late page also reads the rows of all earlier pages.
  ["the last page", { page: { number: 5000, size: 20 } }, 100_000, 101_000],
  ["in reverse", { sort: { key: "name", descending: true } }, 100_000],
  ["by latest change", { sort: { key: "latest-change-at", descending: true } }, 100_000],
  ["by current run", { sort: { key: "current-run.created-at", descending: true } }, 100_000],
  // The list begins with the 25,000 workspaces whose name begins with `app`; none of them has a current run
  // with this status.
  ["many current runs", { currentRunStatuses: ["applied"] }, 10_000, 26_000],
  ["few current runs", { currentRunStatuses: ["planning", "errored"] }, 10],
  ["not locked", { locked: false }, 99_990],
  ["one project", { projectId: "prj-4" }, 200],
  // All matches are next to each other, at the end of the list.
  ["a part of many names", { name: "net" }, 25_000],
  [
    "many matches in reverse order",
    { name: "app", sort: { key: "name", descending: true } },
    25_000,
  ],
  ["a part of few names", { name: "-99999" }, 1],
  ["a prefix", { wildcardName: "app-0*" }, 1_710],
  ["a suffix", { wildcardName: "*-4242" }, 1],
  ["a common tag", { tags: ["common"] }, 50_000],
  ["a rare tag", { tags: ["rare"] }, 100],
  ["two tags", { tags: ["common", "rare"] }, 100],
  ["not a common tag", { excludedTags: ["common"] }, 50_000],
  ["a key", { tagged: [{ key: "env", value: "" }] }, 20_000],
  ["a key and a value", { tagged: [{ key: "env", value: "prod" }] }, 20_000],
  ["a value", { tagged: [{ key: "", value: "prod" }] }, 20_000],
  [
    "one of two keys",
    {
      tagged: [
        { key: "env", value: "prod" },
        { key: "tier", value: "" },
      ],
      taggedAny: true,
    },
    20_000,
  ],
  [
    "all filters together",
    { name: "a", tags: ["rare"], excludedTags: ["none"], projectId: "prj-0" },
    23,
  ],
])("%s is found through its index", async (_, part, ownerFinds, ownerSees = PAGE_SEES) => {
  proves("Workspace list/each has its index at 100,000 workspaces");
  const search = { ...everything, ...part };
  for (const [who, readable] of [
    ["owner", owner],
    ["confined", confined],
  ] as const) {
    const { found, plans } = await plansOf(search, readable);
    if (who === "owner") expect.soft(found?.total).toBe(ownerFinds);
    for (const [index, { plan, sql }] of plans.entries()) {
      // A sequential scan is the best plan to count most of the rows.
      const counts = index === 1 && plans.length === 3 && (found?.total ?? 0) > 10_000;
      if (!counts) expect.soft(plan, sql).not.toMatch(/Seq Scan on (workspaces|tag_bindings)/);
    }
    const page = plans.at(-1);
    const sees = who === "owner" ? ownerSees : PAGE_SEES;
    if (found && found.workspaces.length > 0) expect.soft(page?.seen, page?.sql).toBeLessThan(sees);
  }
});

// PostgreSQL uses generic plans for these statements. A generic plan assumes ten projects in any list of projects.
test.each([
  ["name", "workspaces_name_key"],
  ["latest-change-at", "workspaces_latest_change"],
  ["current-run.created-at", "workspaces_current_run"],
] as const)(
  "most projects by %s are read in the order of %s, for any estimate of their number",
  async (key, index) => {
    const projectIds = Array.from({ length: 499 }, (_, project) => `prj-${project}`);
    const readable = { ...confined, projectIds, workspaceIds: ["ws-499"] };
    const search = { ...everything, sort: { key, descending: true } };
    const { found, plans } = await plansOf(search, readable);
    expect(found?.total).toBe(99_801);
    expect(found?.workspaces).toHaveLength(20);
    const page = plans.at(-1);
    const assumed = await client.query(`explain (generic_plan) ${page?.sql}`);
    const generic = assumed.rows.map((line) => line["QUERY PLAN"]).join("\n");
    for (const plan of [page?.plan, generic]) expect.soft(plan).toMatch(`${index} on workspaces`);
  },
);

test("locked workspaces are found without an index, in one reading of the scope for each statement", async () => {
  for (const readable of [owner, confined]) {
    const { found, plans } = await plansOf({ ...everything, locked: true }, readable);
    if (readable === owner) expect(found?.total).toBe(10);
    for (const { seen, sql } of plans) expect(seen, sql).toBeLessThanOrEqual(102_500);
  }
});
