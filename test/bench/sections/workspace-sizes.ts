import { costOf } from "../../stack/request-cost.ts";
import { type Aim, atLeast, atMost } from "../aim.ts";
import type { Ground } from "../bench.ts";
import type { Caller } from "../caller.ts";
import type { Measured } from "../contest.ts";
import { type SizedFixture, startSizedFixture } from "../sized-fixture.ts";
import { printTable } from "../table.ts";
import { counterCost, printTableSizes, writesBySize } from "./growth.ts";
import { searchStatements } from "./search-statements.ts";

/** Highest permitted ratio of a request's time with the most workspaces to its time with the fewest. */
const FACTOR = 1.5;
const PACE = { warmUp: 0.4, round: 0.4, rounds: 3 };
/** The pace of `flat` requests: more rounds, because the median of the rounds is compared with a target. */
const LONGER = { ...PACE, rounds: 7 };

interface Request {
  name: string;
  /** Returns a path below `/api/v2`. */
  path(fixture: SizedFixture, workspaceId: string): string;
  /** Whether the time of the request may grow at most by `FACTOR` from the smallest to the largest size. */
  flat?: true;
  /** Highest permitted number of SQL statements. */
  statements?: number;
}

const listed = (name: string, query: string, more: Partial<Request> = {}): Request => ({
  name,
  path: ({ organization, projectIds: [projectId = ""] }) =>
    `/organizations/${organization}/workspaces?${encodeURI(query.replace("PROJECT", projectId))}`,
  ...more,
});

const requests: readonly Request[] = [
  { name: "show", path: (_, id) => `/workspaces/${id}`, flat: true },
  {
    name: "current state version",
    path: (_, id) => `/workspaces/${id}/current-state-version`,
    flat: true,
  },
  listed("list of 20", "page[size]=20", { flat: true }),
  listed("list of 100", "page[size]=100"),
  listed("list of 100, three includes", "page[size]=100&include=organization,project,current_run", {
    statements: 8,
  }),
  listed("filter[project][id]", "page[size]=20&filter[project][id]=PROJECT", { flat: true }),
  listed("filter[current-run][status], many", "page[size]=20&filter[current-run][status]=applied"),
  listed("filter[current-run][status], few", "page[size]=20&filter[current-run][status]=planning"),
  listed(
    "filter[tagged], key and value",
    "page[size]=20&filter[tagged][0][key]=env&filter[tagged][0][value]=prod",
  ),
  listed("search[name], many", "page[size]=20&search[name]=a1"),
  listed("search[name], many that sort last", "page[size]=20&search[name]=net"),
  listed("search[name], one", "page[size]=20&search[name]=-77", { flat: true }),
  listed("search[wildcard-name]", "page[size]=20&search[wildcard-name]=app-0*"),
  listed("search[tags], common", "page[size]=20&search[tags]=common"),
  listed("search[tags], rare", "page[size]=20&search[tags]=rare"),
  listed("search[exclude-tags]", "page[size]=20&search[exclude-tags]=common"),
  ...[
    "-name",
    "latest-change-at",
    "-latest-change-at",
    "current-run.created-at",
    "-current-run.created-at",
  ].map((sort) => listed(`sort=${sort}`, `page[size]=20&sort=${sort}`)),
];

/**
 * (g) Measures reads and lists among few and many workspaces, for an owner and for a user who may read three projects;
 * then the statements of searches, writes, and the cost of the counters of list totals. Searches are repeated, so
 * their totals are cached; the table of search statements shows how long counting takes.
 */
export async function workspaceSizes(ground: Ground): Promise<Aim[]> {
  await using started = new AsyncDisposableStack();
  const fixtures: SizedFixture[] = [];
  for (const size of ground.options.sizes)
    fixtures.push(started.use(await startSizedFixture(size, ground.options.each)));
  const largest = fixtures.at(-1);
  if (largest) await printTableSizes(largest);
  const aims: Aim[] = [];
  for (const who of ["owner", "confined"] as const)
    aims.push(...(await measure(ground, fixtures, who)));
  aims.push(...(await searchStatements(fixtures)));
  aims.push(...(await writesBySize(fixtures, FACTOR)));
  aims.push(...(await counterCost()));
  return aims;
}

async function measure(
  ground: Ground,
  fixtures: readonly SizedFixture[],
  who: "owner" | "confined",
): Promise<Aim[]> {
  const rows: (string | number)[][] = [];
  const aims: Aim[] = [];
  const [smallest, largest] = [fixtures[0], fixtures.at(-1)];
  if (!smallest || !largest) return [];
  const { name } = largest[who];
  for (const request of requests) {
    const measured = await ground.contest(
      fixtures.map((fixture) => contender(ground, fixture, fixture[who], request)),
      request.flat ? LONGER : PACE,
    );
    const { api } = largest[who];
    const [workspaceId = ""] = largest.workspaceIds;
    const cost = await costOf(() => api.get(request.path(largest, workspaceId)));
    const ratio = measured.at(-1)?.ratio ?? Number.NaN;
    rows.push([request.name, ...measured.flatMap(figures), ratio, cost.statements, cost.calls]);
    const what = `(g) ${request.name}, ${name}`;
    if (request.flat && fixtures.length > 1) {
      const sizes = `${largest.size.toLocaleString("en")} against ${smallest.size.toLocaleString("en")}`;
      aims.push(atLeast(`${what}, rate among ${sizes}`, Number((1 / FACTOR).toFixed(2)), ratio));
    }
    if (request.statements) aims.push(atMost(`${what}, SQL`, request.statements, cost.statements));
  }
  printTable(
    `(g) ${name}, one process, by number of workspaces`,
    [
      "",
      ...fixtures.flatMap(({ size }) => [`${size.toLocaleString("en")}: /s`, "p99 ms"]),
      "last of first",
      "SQL",
      "calls",
    ],
    rows,
  );
  return aims;
}

const contender = (
  { postgres }: Ground,
  { size, stack, ...fixture }: SizedFixture,
  { headers }: Caller,
  { path }: Request,
) => ({
  name: `${size} workspaces`,
  plan: {
    origin: stack.url,
    headers,
    connections: fixture.workspaceIds.map((id) => [
      {
        method: "GET",
        path: `/api/v2${path({ size, stack, ...fixture }, id)}`,
        expect: 200,
      } as const,
    ]),
  },
  processes: [{ name: "statehouse", pid: process.pid }, postgres],
});

const figures = ({ perSecond, p99 }: Measured) => [perSecond, p99];
