import { setTimeout as pause } from "node:timers/promises";
import { serviceNames } from "@statehouse/standalone/environments";
import { waitFor } from "@statehouse/testing";
import { scrape } from "../../stack/metrics.ts";
import { newOrganization, organizationId } from "../../stack/organization.ts";
import { type ProcessStack, startProcesses } from "../../stack/stack.ts";
import { announcement, expectStatus, stateFile, writeState } from "../../stack/state.ts";
import { projectAccess } from "../../stack/team-access.ts";
import { newWorkspaceIn } from "../../stack/workspace.ts";
import { type Aim, atLeast } from "../aim.ts";
import type { Ground } from "../bench.ts";
import { contentOf } from "../bytes/content.ts";
import { put } from "../bytes/transfer.ts";
import { type Caller, callerOf } from "../caller.ts";
import type { PlannedRequest } from "../load/plan.ts";
import { type Counted, cpuMicros, residentBytes } from "../processes.ts";
import { seed } from "../seed.ts";
import { median } from "../statistics.ts";
import { type Cell, printTable } from "../table.ts";

const WORKSPACES = 1000;
const STATE_BYTES = 100 * 1024;
const MIB = 1024 ** 2;
const SAMPLE_MS = 200;
const WARM_UP = 4;

interface Members {
  stack: ProcessStack;
  organization: string;
  owner: Caller;
  /** Members with write access to the project, one for each connection, each with a workspace of its own. */
  members: readonly Caller[];
  workspaceIds: readonly string[];
  processes: readonly Counted[];
}

/**
 * (o) Measures what requests of ordinary members cost each service: CPU time per request, memory, and connections to
 * PostgreSQL. Uses four processes with mutual TLS. The results are the figures in docs/capacity.md.
 */
export async function capacity(ground: Ground): Promise<Aim[]> {
  await using stack = await startProcesses({ blobs: "minio", settings: { LOG_LEVEL: "warn" } });
  const idle = memoryOf(stack);
  const fixture = await membersOf(ground, stack);
  const watch = watchReplicas(stack);
  const rows: Cell[][] = [];
  const aims: Aim[] = [];
  const list = `/api/v2/organizations/${fixture.organization}/workspaces?page%5Bsize%5D=20`;
  const reads: Record<string, (id: string) => string> = {
    "show a workspace": (id) => `/api/v2/workspaces/${id}`,
    [`list 20 of ${WORKSPACES.toLocaleString("en")}`]: () => list,
    "current state version": (id) => `/api/v2/workspaces/${id}/current-state-version`,
  };
  for (const [what, pathOf] of Object.entries(reads)) {
    const contender = (name: string, callers: readonly Caller[]) => ({
      name,
      plan: {
        origin: stack.url,
        headers: {},
        connections: fixture.workspaceIds.map((id, index): PlannedRequest[] => [
          {
            method: "GET",
            path: pathOf(id),
            headers: (callers[index] ?? fixture.owner).headers,
            expect: 200,
          },
        ]),
      },
      processes: fixture.processes,
    });
    const [owner, members] = await ground.contest([
      contender("the owner", []),
      contender("members", fixture.members),
    ]);
    if (!owner || !members) throw new Error("unreachable");
    rows.push(costRow(what, members.cpu, members.p50));
    aims.push(atLeast(`(o) ${what}, members, of the owner's`, 0.7, members.ratio));
  }
  rows.push(await applies(ground, fixture));
  const peak = watch.stop();
  printTable(
    "(o) CPU time of one operation of a member in ms, and how many a second one core of the busiest service can do",
    ["", ...serviceNames, ground.postgres.name, "a second", "p50 ms"],
    rows,
  );
  printTable(
    `(o) one replica of each service under ${ground.options.clients} busy clients`,
    ["", "MiB idle", "MiB busy", "connections"],
    serviceNames.map((name) => [
      name,
      Math.round((idle.get(name) ?? Number.NaN) / MIB),
      Math.round((peak.memory.get(name) ?? Number.NaN) / MIB),
      peak.connections.get(name) ?? "–",
    ]),
  );
  return aims;
}

function costRow(what: string, cpu: ReadonlyMap<string, number>, p50: number): Cell[] {
  const costs = serviceNames.map((name) => (cpu.get(name) ?? 0) / 1000);
  const perSecond = 1000 / Math.max(...costs);
  return [what, ...costs, (cpu.get("PostgreSQL") ?? 0) / 1000, perSecond, p50];
}

async function membersOf(ground: Ground, stack: ProcessStack): Promise<Members> {
  const count = ground.options.clients;
  const owner = callerOf(stack, await stack.people.newUser());
  const organization = await waitFor(() => newOrganization(owner.api));
  const people = await Promise.all(Array.from({ length: count }, () => stack.people.newUser()));
  const workspaceIds: string[] = [];
  let project = "";
  for (const _ of people) {
    const { id, relationships } = await newWorkspaceIn(owner.api, organization);
    project = relationships.project.data.id;
    workspaceIds.push(id);
    await expectStatus(201, writeState(owner.api, id, stateFile({ resources: 3, lineage: id })));
  }
  const team = await stack.people.newTeam({
    organizationId: await organizationId(stack, organization),
    name: "members",
    members: people,
  });
  const access = projectAccess(team.id, project, { access: "write" });
  await expectStatus(200, owner.api.post("/team-projects", access));
  await seed(stack.databases.workspaces, ({ copies }) =>
    copies("workspaces", workspaceIds[0] ?? "", WORKSPACES - count, {
      id: "'ws-' || lpad(n::text, 16, '0')",
      name: "'seeded-' || n",
      current_state_version_id: "null",
    }),
  );
  return {
    stack,
    organization,
    owner,
    members: people.map((person) => callerOf(stack, person)),
    workspaceIds,
    processes: [
      ...Object.values(stack.processes).map((one) => ({ name: one.name, pid: one.pid() })),
      ground.postgres,
    ],
  };
}

/** Measures the requests of an apply that changes one resource: lock, read, create, upload of 100 KiB, unlock. */
async function applies(ground: Ground, fixture: Members): Promise<Cell[]> {
  const { members, workspaceIds, processes } = fixture;
  const serials = members.map(() => 2);
  const apply = async ({ api }: Caller, index: number) => {
    const startedAt = performance.now();
    const lineage = workspaceIds[index] ?? "";
    const serial = serials[index] ?? 0;
    serials[index] = serial + 1;
    const path = `/workspaces/${lineage}`;
    const content = contentOf(STATE_BYTES, `${index}-${serial}`);
    const { md5 } = content;
    await expectStatus(200, api.post(`${path}/actions/lock`));
    await expectStatus(200, api.get(`${path}/current-state-version`));
    const announced = announcement({ serial, lineage, md5, bytes: Buffer.alloc(0) });
    const created = await expectStatus(201, api.post(`${path}/state-versions`, announced));
    await put(created.body.data.attributes["hosted-state-upload-url"], content);
    await expectStatus(200, api.post(`${path}/actions/unlock`));
    return performance.now() - startedAt;
  };
  // The warm-up opens connections and compiles code.
  for (let round = 0; round < WARM_UP; round++) await Promise.all(members.map(apply));
  const until = performance.now() + ground.options.seconds * 1000;
  const durations: number[] = [];
  const before = cpuMicros(processes);
  await Promise.all(
    members.map(async (member, index) => {
      while (performance.now() < until) durations.push(await apply(member, index));
    }),
  );
  const after = cpuMicros(processes);
  const cpu = new Map(
    [...after].map(([name, used]) => [name, (used - (before.get(name) ?? 0)) / durations.length]),
  );
  return costRow("an apply: 5 requests, 100 KiB", cpu, median(durations));
}

const memoryOf = (stack: ProcessStack): Map<string, number> =>
  new Map(serviceNames.map((name) => [name, residentBytes(stack.processes[name].pid()) ?? 0]));

/** Samples the memory and the connections to PostgreSQL of each service; `stop` returns their maxima. */
function watchReplicas(stack: ProcessStack) {
  const memory = new Map<string, number>();
  const connections = new Map<string, number>();
  const keep = (maxima: Map<string, number>, name: string, value: number) =>
    maxima.set(name, Math.max(maxima.get(name) ?? 0, value));
  let stopped = false;
  const sample = async () => {
    while (!stopped) {
      for (const [name, bytes] of memoryOf(stack)) keep(memory, name, bytes);
      for (const name of serviceNames) {
        const samples = await scrape(stack.environments[name].OPS_PORT).catch(() => []);
        const open = samples.filter((one) => one.name === "statehouse_database_connections");
        if (open.length > 0) {
          keep(
            connections,
            name,
            open.reduce((sum, { value }) => sum + value, 0),
          );
        }
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
