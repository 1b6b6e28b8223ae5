import { openDatabase } from "@statehouse/postgres";
import { createLogger } from "@statehouse/runtime";
import type { ReadScope } from "@statehouse/workspaces/store/read-scope";
import { createWorkspaceLists } from "@statehouse/workspaces/store/workspace-list";
import type { WorkspaceSearch } from "@statehouse/workspaces/store/workspace-search";
import { type Aim, atMost } from "../aim.ts";
import type { SizedFixture } from "../sized-fixture.ts";
import { median } from "../statistics.ts";
import { printTable } from "../table.ts";

/** How many times each search runs before the measurement. */
const WARM_UP = 8;
/** How many times each search is measured. */
const SAMPLES = 15;
/**
 * Highest permitted duration of a page's statement in ms, for any number of workspaces. Users do not notice a delay of
 * this length.
 */
const FLAT_MS = 15;

/**
 * A search whose matches are all in the last quarter of the sort order. No index finds names by a part of the name and
 * returns them in sort order.
 */
const SORTS_LAST = "search[name], many that sort last";

const searches: Readonly<Record<string, Partial<WorkspaceSearch>>> = {
  "search[name], many": { name: "a1" },
  [SORTS_LAST]: { name: "net" },
  "search[name], one": { name: "-77" },
  "search[wildcard-name]": { wildcardName: "app-0*" },
  "search[tags], common": { tags: ["common"] },
  "search[tags], rare": { tags: ["rare"] },
  "search[exclude-tags]": { excludedTags: ["common"] },
  "filter[tagged]": { tagged: [{ key: "env", value: "prod" }] },
  "filter[current-run][status], many": { currentRunStatuses: ["applied"] },
  "filter[current-run][status], few": { currentRunStatuses: ["planning"] },
};

/**
 * Measures the SQL statements of searches: the statement that reads a page and, separately, the statement that counts
 * the total.
 */
export async function searchStatements(fixtures: readonly SizedFixture[]): Promise<Aim[]> {
  const rows: (string | number)[][] = Object.keys(searches).map((name) => [name]);
  let slowest = 0;
  let sortsLast = 0;
  for (const fixture of fixtures) {
    for (const [index, [name, part]] of Object.entries(searches).entries()) {
      const { page, count } = await statementTimes(fixture, part);
      rows[index]?.push(page, count);
      if (name === SORTS_LAST) sortsLast = Math.max(sortsLast, page || 0);
      else slowest = Math.max(slowest, page || 0);
    }
  }
  printTable(
    "    the statements of searches by themselves, ms, owner",
    ["", ...fixtures.flatMap(({ size }) => [`${size.toLocaleString("en")}: page`, "total"])],
    rows,
  );
  return [
    atMost("(g) page statement of a search, slowest, among any number", FLAT_MS, slowest, " ms"),
    atMost(`(g) page statement of ${SORTS_LAST}, among any number`, FLAT_MS, sortsLast, " ms"),
  ];
}

async function statementTimes(
  { stack, organization, organizationId }: SizedFixture,
  part: Partial<WorkspaceSearch>,
): Promise<{ page: number; count: number }> {
  await using database = await openDatabase({
    contextName: "bench",
    url: stack.databases.workspaces,
    entities: [],
    migrations: [],
    poolSize: 1,
    logger: createLogger({ service: "bench", level: "silent" }),
  });
  let taken = nothing;
  const lists = createWorkspaceLists({
    async query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]> {
      const startedAt = performance.now();
      const found = await database.query<Row>(sql, values);
      taken = { ...taken, [kindOf(sql)]: performance.now() - startedAt };
      return found;
    },
  });
  const owner: ReadScope = {
    memberOf: [organizationId],
    organizationIds: [organizationId],
    projectIds: [],
    workspaceIds: [],
  };
  const search: WorkspaceSearch = { ...everything, organizationName: organization, ...part };
  const samples: (typeof taken)[] = [];
  for (let turn = 0; turn < WARM_UP + SAMPLES; turn++) {
    taken = nothing;
    await lists.find(search, owner);
    if (turn >= WARM_UP) samples.push(taken);
  }
  return {
    page: median(samples.map(({ page }) => page)),
    count: median(samples.map(({ count }) => count)),
  };
}

/** The durations for a search without matches, which has no page to read. */
const nothing = { page: Number.NaN, count: Number.NaN };

const kindOf = (sql: string) => {
  if (/^select count\(/.test(sql)) return "count";
  return /row_to_json/.test(sql) ? "page" : "place";
};

const everything: Omit<WorkspaceSearch, "organizationName"> = {
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
