import { setTimeout as pause } from "node:timers/promises";
import { type Environment, serviceNames } from "@statehouse/standalone/environments";
import { api } from "../../stack/http.ts";
import { scrape } from "../../stack/metrics.ts";
import { reservePort } from "../../stack/port.ts";
import { serviceProcess } from "../../stack/processes.ts";
import type { ServiceProcess } from "../../stack/service-process.ts";
import { type ProcessStack, startProcesses } from "../../stack/stack.ts";
import { newWorkspaceIn } from "../../stack/workspace.ts";
import { type Aim, atMost } from "../aim.ts";
import { contentOf } from "../content.ts";
import { alternate, cpuOf, medianOf, type Round, ratiosOf } from "../load.ts";
import type { Options } from "../options.ts";
import { type CpuTimes, processMicros, residentBytes, treeMicros } from "../processes.ts";
import { candidateOf, requests } from "../requests.ts";
import { fill, newMember, type Server } from "../server.ts";
import { startWriter, type Writer } from "../state-writer.ts";
import { median, quantile } from "../statistics.ts";
import { type Cell, printTable } from "../table.ts";

const STATE_BYTES = 100 * 1024;
const MIB = 1024 ** 2;
const SAMPLE_MS = 200;
/** Highest permitted ratio of a request's CPU time with two replicas of each service to that with one replica. */
const MOST = 1.1;
const READS = ["show a workspace", "list of 20 workspaces", "current state version"];

type Processes = ProcessStack["processes"];

/** The services with the token of a member, who may not create workspaces. */
interface Members extends Server {
  ownerToken: string;
}

/** The requests of a member to one replica of each service, or to two. */
interface Side {
  name: string;
  urls: readonly string[];
  cpu: () => CpuTimes;
}

/**
 * Measures what requests of a member cost each service with one replica of each and with two: CPU time, memory, and
 * connections to PostgreSQL. Replicas are processes with mutual TLS; each gateway calls services of its own. The
 * results are the figures in docs/capacity.md.
 */
export async function replicas(options: Options, postgres: number): Promise<Aim[]> {
  const { clients, seconds, workspaces } = options;
  await using stack = await startProcesses({ blobs: "minio", settings: { LOG_LEVEL: "warn" } });
  const idle = memoryOf(stack.processes);
  const server = await memberOf(stack, { workspaces, connections: clients });
  await using others = await startReplicas(stack);
  const watch = watchReplicas(stack);
  const sides = sidesOf([stack.processes, others.processes], {
    urls: [stack.url, others.url],
    postgres,
  });
  const rows: Cell[][] = [];
  const aims: Aim[] = [];
  const add = (what: string, [one = [], two = []]: readonly Round[][]) => {
    for (const [index, rounds] of [one, two].entries()) {
      rows.push(rowOf(index === 0 ? what : "", sides[index]?.name ?? "", rounds));
    }
    const ratio = median(ratiosOf(two, one, cpuOf));
    aims.push(atMost(`${what}, CPU time with two replicas, of one`, MOST, ratio));
  };
  for (const request of requests.filter(({ name }) => READS.includes(name))) {
    const candidate = candidateOf(server, request);
    if (!candidate) throw new Error(`the services cannot answer: ${request.name}`);
    const candidates = sides.map((side) => ({ ...candidate, ...side }));
    add(request.name, await alternate(candidates, { rounds: seconds }));
  }
  add(
    "a write: create, upload of 100 KiB, current, download",
    await writes(server, sides, seconds),
  );
  const peak = watch.stop();
  printTable(
    "replicas: CPU time of a member's request in ms, and how many a second a core of the busiest service carries",
    ["", "replicas", ...serviceNames, "PostgreSQL", "a second", "p50 ms"],
    rows,
  );
  printTable(
    `one replica of each service under ${clients} busy clients`,
    ["", "MiB idle", "MiB busy", "connections"],
    serviceNames.map((name) => [
      name,
      ...[idle, peak.memory].map((memory) => Math.round((memory.get(name) ?? Number.NaN) / MIB)),
      peak.connections.get(name) ?? "–",
    ]),
  );
  return aims;
}

/** Creates an organization with workspaces, and a team that may write to them. */
async function memberOf(
  stack: ProcessStack,
  size: { workspaces: number; connections: number },
): Promise<Members> {
  const { token } = await stack.people.newUser();
  const owner = await fill({ name: "the services", url: stack.url, token }, size);
  const shown = await api(stack.url, token).get(`/workspaces/${owner.own[0]?.id}`);
  const projectId: string = shown.body.data.relationships.project.data.id;
  return { ...owner, token: await newMember(owner, [projectId]), ownerToken: token };
}

/** Starts a second replica of each service, on ports of its own. */
async function startReplicas({ environments }: ProcessStack) {
  await using starting = new AsyncDisposableStack();
  const ports = new Map<string, string>();
  for (const environment of Object.values(environments)) {
    for (const [name, value] of Object.entries(environment)) {
      if (name.endsWith("PORT")) ports.set(value, String(await reservePort()));
    }
  }
  const moved = (environment: Environment): Environment =>
    Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [
        name,
        value.replaceAll(/(?<=^|:)\d+(?=$|\D)/g, (number) => ports.get(number) ?? number),
      ]),
    );
  const processes: Partial<Record<(typeof serviceNames)[number], ServiceProcess>> = {};
  for (const name of serviceNames) {
    const process = starting.use(serviceProcess(name, moved(environments[name])));
    await process.start();
    processes[name] = process;
  }
  const started = starting.move();
  return {
    processes: processes as Processes,
    url: `http://127.0.0.1:${processes.gateway?.environment.PORT}`,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const sidesOf = (
  processes: readonly Processes[],
  { urls, postgres }: { urls: readonly string[]; postgres: number },
): Side[] =>
  processes.map((_, index) => {
    const used = processes.slice(0, index + 1);
    const micros = (name: (typeof serviceNames)[number]) =>
      used.reduce((sum, replica) => sum + processMicros(replica[name].pid()), 0);
    return {
      name: String(index + 1),
      urls: urls.slice(0, index + 1),
      cpu: () =>
        new Map([
          ...serviceNames.map((name) => [name, micros(name)] as const),
          ["PostgreSQL", treeMicros(postgres)],
        ]),
    };
  });

function rowOf(what: string, name: string, rounds: readonly Round[]): Cell[] {
  const part = (key: string) => medianOf(rounds, ({ cpu }) => (cpu.get(key) ?? Number.NaN) / 1000);
  const costs = serviceNames.map(part);
  const perSecond = 1000 / Math.max(...costs);
  return [what, name, ...costs, part("PostgreSQL"), perSecond, medianOf(rounds, "p50")];
}

/** Measures writes of states in alternating rounds of about a second. */
async function writes(server: Members, sides: readonly Side[], rounds: number): Promise<Round[][]> {
  const owner = api(server.url, server.ownerToken);
  const content = contentOf(STATE_BYTES, "replicas");
  const measured: Round[][] = sides.map(() => []);
  const writers: Writer[][] = [];
  for (const { urls } of sides) {
    const own: Writer[] = [];
    for (let index = 0; index < server.own.length; index++) {
      const { id } = await newWorkspaceIn(owner, server.organization);
      own.push(
        await startWriter({ url: urls[index % urls.length] ?? "", token: server.token }, id),
      );
    }
    writers.push(own);
  }
  // The first turn opens connections and compiles code.
  for (let turn = 0; turn <= rounds; turn++) {
    for (const [index, { cpu }] of sides.entries()) {
      const durations: number[] = [];
      const before = cpu();
      const startedAt = performance.now();
      await Promise.all(
        (writers[index] ?? []).map(async (writer) => {
          while (performance.now() < startedAt + 1000) {
            const writtenAt = performance.now();
            await writer.write(content);
            durations.push(performance.now() - writtenAt);
          }
        }),
      );
      const { length: count } = durations;
      const sorted = durations.toSorted((a, b) => a - b);
      const used = [...cpu()].map(([part, micros]) => {
        return [part, (micros - (before.get(part) ?? 0)) / count] as const;
      });
      if (turn === 0) continue;
      measured[index]?.push({
        perSecond: (count * 1000) / (performance.now() - startedAt),
        p50: quantile(sorted, 0.5),
        p99: quantile(sorted, 0.99),
        cpu: new Map(used),
      });
    }
  }
  return measured;
}

const memoryOf = (processes: Processes): Map<string, number> =>
  new Map(serviceNames.map((name) => [name, residentBytes(processes[name].pid())]));

/** Samples the memory and the connections to PostgreSQL of each service; `stop` returns their maxima. */
function watchReplicas({ processes, environments }: ProcessStack) {
  const memory = new Map<string, number>();
  const connections = new Map<string, number>();
  const keep = (maxima: Map<string, number>, name: string, value: number) =>
    maxima.set(name, Math.max(maxima.get(name) ?? 0, value));
  let stopped = false;
  const sample = async () => {
    while (!stopped) {
      for (const [name, bytes] of memoryOf(processes)) keep(memory, name, bytes);
      for (const name of serviceNames) {
        const samples = await scrape(environments[name].OPS_PORT).catch(() => []);
        const open = samples.filter((one) => one.name === "statehouse_database_connections");
        const total = open.reduce((sum, { value }) => sum + value, 0);
        if (open.length > 0) keep(connections, name, total);
      }
      await pause(SAMPLE_MS);
    }
  };
  void sample();
  return {
    stop() {
      stopped = true;
      return { memory, connections };
    },
  };
}
