import { startTelemetry } from "@statehouse/runtime/telemetry";
import { type StackOptions, startProcesses, startStack } from "../../stack/stack.ts";
import { expectStatus, writeState } from "../../stack/state.ts";
import { stateOf } from "../against/server.ts";
import { type Aim, atLeast } from "../aim.ts";
import { startFloor } from "../bare/floor.ts";
import { contender, type Ground } from "../bench.ts";
import type { Contender, Measured } from "../contest.ts";
import { type BenchFixture, openFixture } from "../fixture.ts";
import { printLayers } from "../layers.ts";
import type { Counted } from "../processes.ts";
import { printTable } from "../table.ts";
import { printRates } from "./rates.ts";

/** A stack in which each connection of the load generator has its own workspace with a state of 8 KiB. */
interface Side extends BenchFixture {
  /** The download URLs of the states, by the ids of their workspaces. */
  downloads: ReadonlyMap<string, URL>;
  /** Names of the workspaces by their ids. */
  names: ReadonlyMap<string, string>;
}

interface Row {
  name: string;
  path(side: Side, workspaceId: string): string;
  /** The requests to the floor server with which this row is compared: a name in `bodies`, or `download`. */
  floor: string;
  /** The ratios to the floor that one process and four processes must reach. */
  aims: readonly [one: number, four: number];
}

const pathOf = (workspaceId: string) => `/api/v2/workspaces/${workspaceId}`;

const rows: readonly Row[] = [
  { name: "show by id", path: (_, id) => pathOf(id), floor: "show", aims: [0.8, 0.5] },
  {
    name: "show by name",
    path: ({ organization, names }, id) =>
      `/api/v2/organizations/${organization}/workspaces/${names.get(id)}`,
    floor: "show",
    aims: [0.8, 0.5],
  },
  {
    name: "current state version",
    path: (_, id) => `${pathOf(id)}/current-state-version`,
    floor: "current",
    aims: [0.7, 0.45],
  },
  {
    name: "outputs",
    path: (_, id) => `${pathOf(id)}/current-state-version-outputs`,
    floor: "outputs",
    aims: [0.7, 0.45],
  },
  {
    name: "download of 8 KiB",
    path: ({ downloads }, id) => downloads.get(id)?.pathname ?? "",
    floor: "download",
    aims: [0.7, 0.5],
  },
];

/**
 * (t) Compares reads with their floor, the cost of a minimal server that uses node:http and pg, authenticates nothing,
 * and sends responses of the same size. For each request it reads one row; for outputs it also inserts an audit record;
 * for downloads it inserts an audit record and sends a file instead of reading a row.
 */
export async function reads(ground: Ground): Promise<Aim[]> {
  // Records metrics, as `npm start` does. Otherwise, the results of all services in one process would not include the
  // cost of metrics.
  await using _telemetry = await startTelemetry({ service: "bench", env: {} });
  await using started = new AsyncDisposableStack();
  const settings: StackOptions = { blobs: "directory", settings: { LOG_LEVEL: "warn" } };
  const oneStack = started.use(await startStack(settings));
  const fourStack = started.use(await startProcesses(settings));
  const connections = ground.options.clients;
  const side = async (name: string, stack: typeof oneStack, processes: Counted[]) =>
    withStates(
      await openFixture(stack, { name, connections, processes: [...processes, ground.postgres] }),
    );
  const one = await side("one process", oneStack, [{ name: "statehouse", pid: process.pid }]);
  const four = await side(
    "four processes",
    fourStack,
    Object.values(fourStack.processes).map((service) => ({
      name: service.name,
      pid: service.pid(),
    })),
  );
  const [first = ""] = one.workspaceIds;
  const bodyOf = async (path: string) => (await expectStatus(200, one.api.get(path))).body;
  const content = await fetch(one.downloads.get(first) ?? "", { headers: one.headers });
  const floor = started.use(
    await startFloor({
      bodies: {
        show: await bodyOf(`/workspaces/${first}`),
        current: await bodyOf(`/workspaces/${first}/current-state-version`),
        outputs: await bodyOf(`/workspaces/${first}/current-state-version-outputs`),
      },
      recorded: ["outputs"],
      content: await content.bytes(),
      connections,
      postgres: ground.postgres,
    }),
  );
  const aims: Aim[] = [];
  const costs: (string | number)[][] = [];
  for (const row of rows) {
    const contenders = [floor.contender(row.floor), contenderOf(one, row), contenderOf(four, row)];
    const measured = await ground.contest(contenders);
    printRates(`(t) ${row.name}`, measured, { ratio: "of the floor" });
    const [least, alone, divided] = measured;
    await printLayers(ground.generator, contenderOf(one, row).plan, {
      what: row.name,
      micros: alone?.cpu.get("statehouse"),
    });
    costs.push([row.name, ...[least, alone, divided].map(ownMicros)]);
    const [inOne, inFour] = row.aims;
    aims.push(
      atLeast(`(t) ${row.name} in one process, of the floor`, inOne, alone?.ratio ?? 0),
      atLeast(`(t) ${row.name} as four processes, of the floor`, inFour, divided?.ratio ?? 0),
    );
  }
  printTable(
    `    CPU time of one request without PostgreSQL, µs`,
    ["", "floor", "one process", "four processes"],
    costs,
  );
  return aims;
}

/** CPU time of one request in the processes that answer it. */
const ownMicros = (measured: Measured | undefined): number =>
  [...(measured?.cpu ?? [])]
    .filter(([process]) => process !== "PostgreSQL" && process !== "generator")
    .reduce((sum, [, micros]) => sum + micros, 0);

function contenderOf(side: Side, row: Row): Contender {
  const planned = contender(side, (id) => [
    { method: "GET", path: row.path(side, id), expect: 200 },
  ]);
  if (row.floor !== "download") return planned;
  const [url] = side.downloads.values();
  return { ...planned, plan: { ...planned.plan, origin: url?.origin ?? side.origin } };
}

/** Writes a state of 8 KiB with an output to each workspace of `fixture.workspaceIds`. */
async function withStates(fixture: BenchFixture): Promise<Side> {
  const { api, workspaceIds } = fixture;
  const downloads = new Map<string, URL>();
  const names = new Map<string, string>();
  for (const id of workspaceIds) {
    const current = async () =>
      (await expectStatus(200, api.get(`/workspaces/${id}/current-state-version`))).body.data
        .attributes;
    const { lineage } = await current();
    await expectStatus(201, writeState(api, id, stateOf(2, lineage)));
    downloads.set(id, new URL((await current())["hosted-state-download-url"]));
    const { body } = await expectStatus(200, api.get(`/workspaces/${id}`));
    names.set(id, body.data.attributes.name);
  }
  return { ...fixture, downloads, names };
}
