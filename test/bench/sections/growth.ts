import { databaseOf } from "@statehouse/standalone/running-database";
import { Client } from "pg";
import { type Aim, atLeast } from "../aim.ts";
import { type Grown, startGrown } from "../growth-data.ts";
import { alternate, medianOf, ratiosOf } from "../load.ts";
import type { Options } from "../options.ts";
import { candidateOf, listOfWorkspaces, type MeasuredRequest, requests } from "../requests.ts";
import { median } from "../statistics.ts";
import { type Cell, print, printTable } from "../table.ts";

/** Highest permitted ratio of a request's time with the most workspaces to its time with the fewest. */
const FACTOR = 1.5;
/** Seconds of a round. */
const SECONDS = 0.4;

const SEARCH_OF_FEW = "search[name], one";

/** Lists of workspaces in addition to those of `requests`. */
const lists: readonly MeasuredRequest[] = [
  ["list of 100", "page[size]=100"],
  ["list of 100, three includes", "page[size]=100&include=organization,project,current_run"],
  ["filter[current-run][status], many", "filter[current-run][status]=applied"],
  ["filter[current-run][status], few", "filter[current-run][status]=planning"],
  ["filter[tagged], key and value", "filter[tagged][0][key]=env&filter[tagged][0][value]=prod"],
  ["search[name], many", "search[name]=a1"],
  ["search[name], many that sort last", "search[name]=net"],
  [SEARCH_OF_FEW, "search[name]=-77"],
  ["search[wildcard-name]", "search[wildcard-name]=app-0*"],
  ["search[tags], common", "search[tags]=common"],
  ["search[tags], rare", "search[tags]=rare"],
  ["search[exclude-tags]", "search[exclude-tags]=common"],
  ["sort=-name", "sort=-name"],
  ["sort=-latest-change-at", "sort=-latest-change-at"],
  ["sort=current-run.created-at", "sort=current-run.created-at"],
].map(([name = "", query = ""]) => listOfWorkspaces(name, query));

/** The requests whose time may grow at most by `FACTOR` from the smallest to the largest size. */
const flat: ReadonlySet<string> = new Set([
  "show a workspace",
  "list of 20 workspaces",
  "current state version",
  "list of 20 state versions",
  "create a workspace",
  "lock and unlock",
  "lock, write 8 KiB inline, unlock",
  "lock, write 8 KiB by upload URL, unlock",
  SEARCH_OF_FEW,
]);

/**
 * Measures requests of `npm start` among few and many workspaces: those of an owner, and reads of a member of three
 * projects. Searches are repeated, so that their totals are cached.
 */
export async function growth({ sizes, each, clients, seconds }: Options): Promise<Aim[]> {
  await using started = new AsyncDisposableStack();
  const grown: Grown[] = [];
  for (const size of sizes) {
    print(`creating ${size.toLocaleString("en")} workspaces`);
    grown.push(started.use(await startGrown(size, { connections: clients, versions: each })));
  }
  await printDatabases(grown);
  const all = [...requests, ...lists];
  return [
    ...(await measure(grown, "owner", { measured: all, rounds: seconds })),
    ...(await measure(grown, "member", {
      measured: all.filter(({ reads }) => reads),
      rounds: seconds,
    })),
  ];
}

async function measure(
  grown: readonly Grown[],
  who: "owner" | "member",
  { measured, rounds }: { measured: readonly MeasuredRequest[]; rounds: number },
): Promise<Aim[]> {
  const rows: Cell[][] = [];
  const aims: Aim[] = [];
  for (const request of measured) {
    const candidates = grown
      .map((one) => candidateOf(one[who], request))
      .filter((candidate) => candidate !== undefined);
    const results = await alternate(candidates, { rounds, seconds: SECONDS });
    const [fewest = [], most = []] = [results[0], results.at(-1)];
    const ratio = median(ratiosOf(most, fewest));
    const figures = results.flatMap((one) => [medianOf(one, "perSecond"), medianOf(one, "p99")]);
    rows.push([request.name, ...figures, ratio]);
    if (flat.has(request.name) && grown.length > 1) {
      const what = `${request.name}, ${who}, rate among the most workspaces, of the fewest`;
      aims.push(atLeast(what, Number((1 / FACTOR).toFixed(2)), ratio));
    }
  }
  printTable(
    `growth: requests of the ${who}, by number of workspaces`,
    ["", ...grown.flatMap(({ owner }) => [`${owner.name}: /s`, "p99 ms"]), "last of first"],
    rows,
  );
  return aims;
}

async function printDatabases(grown: readonly Grown[]): Promise<void> {
  const rows: Cell[][] = [];
  for (const { owner, start } of grown) {
    const row: Cell[] = [owner.name];
    for (const service of ["workspaces", "state"] as const) {
      const client = new Client({ connectionString: databaseOf(start.data, service) });
      await client.connect();
      const sql = "select pg_database_size(current_database())::float8 as bytes";
      const { rows: found } = await client.query<{ bytes: number }>(sql);
      row.push((found[0]?.bytes ?? Number.NaN) / 1024 ** 2);
      await client.end();
    }
    rows.push(row);
  }
  printTable("growth: size of the databases, MiB", ["", "workspaces", "state"], rows);
}
