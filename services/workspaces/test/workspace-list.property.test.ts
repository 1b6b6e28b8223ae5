import { type Database, openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { proves } from "@statehouse/testing/proves";
import fc from "fast-check";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../migrations.ts";
import { entities } from "../nouns.ts";
import type { ReadScope } from "../read-scope-store.ts";
import type { TagFilter } from "../tag-binding/domain.ts";
import { workspaceSortKeys } from "../workspace/domain.ts";
import { createWorkspaceSearch } from "../workspace/list-store.ts";
import type { WorkspaceSearch } from "../workspace/search-store.ts";
import { insertOrganization, insertProject, insertWorkspace } from "./rows.ts";

interface Row {
  id: string;
  name: string;
  projectId: string;
  /** In ms since 1970. */
  createdAt: number;
  latestChangeAt: number | null;
  currentRunCreatedAt: number | null;
  currentRunStatus: string | null;
  locked: boolean;
  bindings: Map<string, string>;
}

const KEYS = ["env", "team", "net"];
const STATUSES = ["planning", "applied", "errored"];
const VALUES = ["", "a", "b"];
const PROJECTS = ["prj-0", "prj-1", "prj-2"];
/** Maps each project to the bindings that its workspaces inherit. */
const inherited = new Map([
  ["prj-1", new Map([["env", "a"]])],
  [
    "prj-2",
    new Map([
      ["team", "b"],
      ["net", ""],
    ]),
  ],
]);

// The names consist of few letters, so that searches match, and of `_`, which is a wildcard in LIKE patterns.
const rows: Row[] = Array.from({ length: 60 }, (_, index) => ({
  id: `ws-${String((index * 37) % 60).padStart(16, "0")}`,
  name: `${["ab", "Ab", "b_a", "a-b", "ba"][index % 5]}${["_", "", "-", "a"][index % 4]}${index % 7}_${index}`,
  projectId: PROJECTS[index % 3] ?? "",
  createdAt: 1_700_000_000_000 + (index % 8) * 1000,
  latestChangeAt: index % 3 === 0 ? 1_700_000_000_000 + (index % 5) * 2000 : null,
  currentRunCreatedAt: index % 4 === 1 ? 1_700_000_000_000 + (index % 5) * 3000 : null,
  currentRunStatus: index % 4 === 1 ? (STATUSES[index % 3] ?? null) : null,
  locked: index % 5 === 2,
  bindings: new Map(
    KEYS.flatMap((key, at) => {
      const value = VALUES[Math.floor(index / 3 ** at) % 4];
      return value === undefined ? [] : [[key, value] as const];
    }),
  ),
}));

const stack = new AsyncDisposableStack();
let database: Database;

beforeAll(async () => {
  const { url } = stack.use(await freshDatabase({ contextName: "workspaces", migrations }));
  const client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
  await client.connect();
  const sql = async (text: string, values: unknown[] = []) => {
    await client.query(text, values);
  };
  await insertOrganization(sql, { id: "org-1", name: "acme" });
  // A workspace of another organization, which the list must not return to any caller.
  await insertOrganization(sql, { id: "org-2", name: "other" });
  const elsewhere = { id: "ws-elsewhere", organizationId: "org-2", projectId: "prj-elsewhere" };
  await insertProject(sql, { id: "prj-elsewhere", organizationId: "org-2", name: "other" });
  await insertWorkspace(sql, { ...elsewhere, name: "ab", createdAt: 0, latestChangeAt: null });
  for (const id of PROJECTS) await insertProject(sql, { id, organizationId: "org-1", name: id });
  const bind = (owner: string, id: string, bindings: ReadonlyMap<string, string>) =>
    sql(
      `insert into tag_bindings (id, organization_id, ${owner}, key, value, through_tags, created_at)
       select 'tb-' || $1 || key, 'org-1', $1, key, value, value = '' and '${owner}' = 'workspace_id', now()
       from unnest($2::text[], $3::text[]) as given (key, value)`,
      [id, [...bindings.keys()], [...bindings.values()]],
    );
  for (const [id, bindings] of inherited) await bind("project_id", id, bindings);
  for (const { bindings, currentRunCreatedAt, currentRunStatus, locked, ...row } of rows) {
    await insertWorkspace(sql, { ...row, organizationId: "org-1" });
    if (currentRunCreatedAt !== null) {
      await sql(
        `update workspaces set current_run_created_at = $2, current_run_status = $3 where id = $1`,
        [row.id, new Date(currentRunCreatedAt), currentRunStatus],
      );
    }
    if (locked) {
      await sql(
        `update workspaces set lock_holder_type = 'user', lock_holder_id = 'user-1', lock_reason = '',
           lock_since = now(), lock_epoch = 1 where id = $1`,
        [row.id],
      );
    }
    await bind("workspace_id", row.id, bindings);
  }
  const logger = createLogger({ service: "test", level: "silent" });
  const contextName = "workspaces";
  database = stack.use(await openDatabase({ contextName, url, entities, migrations, logger }));
});
afterAll(() => stack.disposeAsync());

/** Returns whether all tag filters match or, with `taggedAny`, one of them. */
function tagged(search: WorkspaceSearch, matches: (filter: TagFilter) => boolean): boolean {
  if (search.tagged.length === 0) return true;
  return search.taggedAny ? search.tagged.some(matches) : search.tagged.every(matches);
}

/** Returns the expected list, computed from all rows. */
function naive(search: WorkspaceSearch, readable: ReadScope): Row[] {
  const effective = (row: Row) =>
    new Map([...(inherited.get(row.projectId) ?? []), ...row.bindings]);
  const flat = (row: Row, tag: string) => row.bindings.get(tag) === "";
  const lower = search.wildcardName.toLowerCase();
  const middle = lower.replace(/^\*+|\*+$/g, "");
  const matches = (name: string) => {
    if (lower.startsWith("*") && lower.endsWith("*")) return name.includes(middle);
    if (lower.startsWith("*")) return name.endsWith(middle);
    if (lower.endsWith("*")) return name.startsWith(middle);
    return name === middle;
  };
  const found = rows.filter(
    (row) =>
      (readable.organizationIds.length > 0 ||
        readable.projectIds.includes(row.projectId) ||
        readable.workspaceIds.includes(row.id)) &&
      row.name.toLowerCase().includes(search.name.toLowerCase()) &&
      (lower === "" || matches(row.name.toLowerCase())) &&
      search.tags.every((tag) => flat(row, tag)) &&
      !search.excludedTags.some((tag) => flat(row, tag)) &&
      tagged(search, ({ key, value }) =>
        [...effective(row)].some(
          ([own, held]) => (key === "" || own === key) && (value === "" || held === value),
        ),
      ) &&
      (search.currentRunStatuses.length === 0 ||
        search.currentRunStatuses.includes(row.currentRunStatus ?? "")) &&
      (search.locked === undefined || row.locked === search.locked) &&
      (search.projectId === "" || row.projectId === search.projectId),
  );
  const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
  const moments = {
    "latest-change-at": ({ latestChangeAt, createdAt }: Row) => latestChangeAt ?? createdAt,
    "current-run.created-at": ({ currentRunCreatedAt }: Row) => currentRunCreatedAt ?? 0,
  };
  const { key, descending } = search.sort;
  found.sort((a, b) =>
    key === "name"
      ? compare(a.name, b.name)
      : compare(moments[key](a), moments[key](b)) || compare(a.id, b.id),
  );
  return descending ? found.reverse() : found;
}

const some = <T>(values: readonly T[], maxLength: number) =>
  fc.array(fc.constantFrom(...values), { maxLength });
const part = fc.constantFrom("", "a", "B", "_", "%", "ab", "-b", "\\", "a_1");
const searches: fc.Arbitrary<WorkspaceSearch> = fc.record({
  organizationName: fc.constant("acme"),
  name: part,
  wildcardName: fc.oneof(
    fc.constant(""),
    fc
      .tuple(fc.constantFrom("", "*"), part, fc.constantFrom("", "*"))
      .map((parts) => parts.join("")),
  ),
  tags: some(KEYS, 2),
  excludedTags: some([...KEYS, "nowhere"], 1),
  tagged: fc.array(
    fc
      .record({ key: fc.constantFrom("", ...KEYS, "none"), value: fc.constantFrom(...VALUES) })
      .filter(({ key, value }) => key !== "" || value !== ""),
    { maxLength: 2 },
  ),
  taggedAny: fc.boolean(),
  currentRunStatuses: some(STATUSES, 2),
  locked: fc.constantFrom(undefined, undefined, true, false),
  projectId: fc.constantFrom("", "", ...PROJECTS, "prj-none"),
  sort: fc.record({ key: fc.constantFrom(...workspaceSortKeys), descending: fc.boolean() }),
  page: fc.record({
    number: fc.integer({ min: 1, max: 4 }),
    size: fc.integer({ min: 1, max: 30 }),
  }),
});
const readables: fc.Arbitrary<ReadScope> = fc
  .record({
    whole: fc.boolean(),
    projectIds: fc.subarray([...PROJECTS, "prj-elsewhere"]),
    workspaceIds: fc.subarray([...rows.slice(0, 9).map(({ id }) => id), "ws-elsewhere"]),
  })
  .map(({ whole, ...some }) => ({
    memberOf: ["org-1", "org-2"],
    organizationIds: whole ? ["org-1"] : [],
    ...some,
  }));

// In a scope of few workspaces, a list evaluates the filter for each of them. In a larger scope, it either finds all
// matches first or reads the workspaces in order.
test.each([
  ["each workspace read separately", rows.length],
  ["matches found by indexes", 0],
])(
  "every combination of filters, sort and page returns the result of a naive filter: %s",
  async (_, few) => {
    proves("Workspace list/in every combination, stable, exact, full");
    const searchWorkspaces = createWorkspaceSearch(database, few);
    await fc.assert(
      fc.asyncProperty(searches, readables, async (search, readable) => {
        const expected = naive(search, readable);
        const { number, size } = search.page;
        const found = await searchWorkspaces(search, readable);
        expect(found?.workspaces.map(({ name }) => name)).toEqual(
          expected.slice((number - 1) * size, number * size).map(({ name }) => name),
        );
        expect(found?.total).toBe(expected.length);
      }),
      { numRuns: 500 },
    );
  },
);
