import { type Aim, atMost, failed } from "../aim.ts";
import { startFloor } from "../floor.ts";
import {
  alternate,
  type Candidate,
  cpuOf,
  medianOf,
  type Round,
  ratiosOf,
  roundOf,
} from "../load.ts";
import { type RunningStart, type Statement, startNpm, thisCheckout } from "../npm-start.ts";
import type { Options } from "../options.ts";
import { PARTS } from "../processes.ts";
import { candidateOf, type MeasuredRequest, requests } from "../requests.ts";
import { fill, type Server } from "../server.ts";
import { median } from "../statistics.ts";
import { type Cell, print, printTable } from "../table.ts";

/** The highest permitted ratio of a request's cost to its cost in the other checkout. */
const MOST = 1.05;
/** How often the statements of a request are counted. The lowest counts are used, which exclude other work. */
const SAMPLES = 8;

/** A running `npm start` with its data. */
interface Side {
  start: RunningStart;
  server: Server;
  counts: ReadonlyMap<MeasuredRequest, Counts>;
}

interface Counts {
  statements: number;
  roundTrips: number;
  last: readonly Statement[];
}

/**
 * Prints what each request costs `npm start`: the SQL statements and round trips that it waits for, and the CPU time of
 * the main thread, of the other threads, of PostgreSQL and of NATS, which includes the work after the response. The
 * floor of a read is a minimal server that executes the same statements. With `--checkout`, compares these costs with
 * those of another checkout.
 */
export async function requestCost({ checkout, seconds, ...options }: Options): Promise<Aim[]> {
  await using started = new AsyncDisposableStack();
  const sides: Side[] = [];
  for (const folder of [thisCheckout, ...(checkout === undefined ? [] : [checkout])]) {
    const start = started.use(await startNpm(folder));
    const name = sides.length === 0 ? "this checkout" : "the other";
    sides.push(await sideOf(start, { ...options, name }));
  }
  const [own, other] = sides;
  if (!own) return [];
  const rows: Cell[][] = [];
  const aims: Aim[] = [];
  for (const request of requests) {
    await using floor = request.reads && (await floorOf(own, request));
    const candidates = [
      ...sides.map(({ server, start }) => candidateOf(server, request, start.cpu)),
      ...(floor ? [floor] : []),
    ].filter((candidate) => candidate !== undefined);
    const measured = await alternate(candidates, { rounds: seconds });
    for (const [index, candidate] of candidates.entries()) {
      const counts = sides[index]?.counts.get(request);
      rows.push(rowOf(index === 0 ? request.name : "", candidate, counts, measured[index] ?? []));
    }
    if (other) aims.push(...aimsOf(request, [own, other], measured));
    print(`${request.name}: measured`);
  }
  printTable(
    `the cost of a request, ${options.clients} connections, ${options.workspaces} workspaces; CPU time in µs`,
    ["", "", "SQL", "round trips", ...PARTS, "sum", "per s", "p50 ms"],
    rows,
  );
  return aims;
}

async function sideOf(
  start: RunningStart,
  { name, clients, workspaces }: Pick<Options, "clients" | "workspaces"> & { name: string },
): Promise<Side> {
  const { url, token, organization } = start;
  const address = { name, url, token, organization };
  print(`${name}: creating ${workspaces} workspaces`);
  const server = await fill(address, { workspaces, connections: clients });
  const counts = new Map<MeasuredRequest, Counts>();
  for (const request of requests) counts.set(request, await countsOf(start, server, request));
  await start.meter("stop");
  return { start, server, counts };
}

/** Counts the statements and round trips of a request that is sent by one client. */
async function countsOf(
  start: RunningStart,
  server: Server,
  request: MeasuredRequest,
): Promise<Counts> {
  const candidate = candidateOf({ ...server, own: server.own.slice(0, 1) }, request);
  if (!candidate) throw new Error(`${server.name} cannot answer: ${request.name}`);
  await roundOf(candidate, 1);
  await start.meter("read");
  const samples: Counts[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    await roundOf(candidate, 1);
    samples.push(await start.meter("read"));
  }
  return {
    statements: Math.min(...samples.map(({ statements }) => statements)),
    roundTrips: Math.min(...samples.map(({ roundTrips }) => roundTrips)),
    last: samples.at(-1)?.last ?? [],
  };
}

async function floorOf({ start, server, counts }: Side, request: MeasuredRequest) {
  const [own] = server.own;
  const [step] = (own && request.steps(server, own)) ?? [];
  const statements = counts.get(request)?.last;
  if (typeof step?.path !== "string" || !statements) return undefined;
  const response = await fetch(server.url + step.path, {
    headers: { authorization: `Bearer ${server.token}` },
  });
  const body = await response.bytes();
  return startFloor(start, { statements, body, connections: server.own.length });
}

function rowOf(
  name: string,
  candidate: Candidate,
  counts: Counts | undefined,
  rounds: readonly Round[],
): Cell[] {
  const part = (key: string) => medianOf(rounds, ({ cpu }) => cpu.get(key) ?? Number.NaN);
  return [
    ...[name, candidate.name],
    ...[counts?.statements ?? Number.NaN, counts?.roundTrips ?? Number.NaN],
    ...[...PARTS.map(part), medianOf(rounds, cpuOf)],
    ...[medianOf(rounds, "perSecond"), medianOf(rounds, "p50")],
  ];
}

function aimsOf(
  request: MeasuredRequest,
  [own, other]: readonly [Side, Side],
  [rounds, others]: readonly Round[][],
): Aim[] {
  const [ours, theirs] = [own.counts.get(request), other.counts.get(request)];
  if (!ours || !theirs || !rounds || !others) return [failed(request.name, "not measured")];
  const most = request.mostOfOther ?? MOST;
  return [
    atMost(
      `${request.name}: statements, of the other's`,
      most,
      ours.statements / theirs.statements,
    ),
    atMost(
      `${request.name}: round trips, of the other's`,
      most,
      ours.roundTrips / theirs.roundTrips,
    ),
    atMost(
      `${request.name}: CPU time, of the other's`,
      most,
      median(ratiosOf(rounds, others, cpuOf)),
    ),
  ];
}
