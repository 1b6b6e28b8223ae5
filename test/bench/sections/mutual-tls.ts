import { randomUUID } from "node:crypto";
import { newOrganization } from "../../stack/organization.ts";
import { type ProcessStack, startProcesses } from "../../stack/stack.ts";
import { newWorkspaceIn } from "../../stack/workspace.ts";
import { type Aim, atLeast } from "../aim.ts";
import type { Ground } from "../bench.ts";
import { contentOf } from "../bytes/content.ts";
import { type Caller, callerOf } from "../caller.ts";
import { startWriters, type Writer } from "../state-writer.ts";
import { median } from "../statistics.ts";
import { printTable } from "../table.ts";
import { printRates } from "./rates.ts";

const WORKSPACES = 20;
const WRITES = 60;
const WARM_UP = 10;
const KIB = 1024;

interface Side {
  name: string;
  stack: ProcessStack;
  caller: Caller;
  organization: string;
  workspaceIds: readonly string[];
  writer: Writer;
}

/**
 * (m) Measures the cost of mutual TLS between four processes and of credentials for NATS. Alternates between a stack
 * with both and a stack with neither.
 */
export async function mutualTls(ground: Ground): Promise<Aim[]> {
  const options = { blobs: "directory", settings: { LOG_LEVEL: "warn" } } as const;
  await using without = await startProcesses({
    ...options,
    ...{ grpcTls: "off", natsCredentials: "off" },
  });
  await using within = await startProcesses(options);
  const sides = [
    await sideOf("without", without),
    await sideOf("with TLS and credentials", within),
  ];
  return [
    await reads(ground, sides, "show", ({ workspaceIds }) =>
      workspaceIds.map((id) => `/api/v2/workspaces/${id}`),
    ),
    await reads(ground, sides, "list of 20", ({ organization }) =>
      Array.from(
        { length: ground.options.clients },
        () => `/api/v2/organizations/${organization}/workspaces?page%5Bsize%5D=20`,
      ),
    ),
    await writes(sides),
  ];
}

async function sideOf(name: string, stack: ProcessStack): Promise<Side> {
  const caller = callerOf(stack, await stack.people.newUser());
  const organization = await newOrganization(caller.api);
  const workspaceIds: string[] = [];
  for (let index = 0; index < WORKSPACES; index++) {
    workspaceIds.push((await newWorkspaceIn(caller.api, organization)).id);
  }
  const [writer] = await startWriters(stack, 1);
  if (!writer) throw new Error("there is no writer");
  return { name, stack, caller, organization, workspaceIds, writer };
}

async function reads(
  ground: Ground,
  sides: readonly Side[],
  what: string,
  pathsOf: (side: Side) => readonly string[],
): Promise<Aim> {
  const contenders = sides.map((side) => ({
    name: side.name,
    plan: {
      origin: side.stack.url,
      headers: side.caller.headers,
      connections: pathsOf(side)
        .slice(0, ground.options.clients)
        .map((path) => [{ method: "GET", path, expect: 200 } as const]),
    },
    processes: [
      ...Object.values(side.stack.processes).map((one) => ({ name: one.name, pid: one.pid() })),
      ground.postgres,
    ],
  }));
  const measured = await ground.contest(contenders);
  printRates(`(m) ${what}, four processes`, measured, { ratio: "of without" });
  return atLeast(`(m) ${what} with mutual TLS, of without`, 0.8, measured[1]?.ratio ?? 0);
}

/**
 * Measures how long one client takes to create, upload and read a state version. Each write is made on both stacks
 * before the next write.
 */
async function writes(sides: readonly Side[]): Promise<Aim> {
  const durations = sides.map(() => [] as number[]);
  for (let index = 0; index < WARM_UP + WRITES; index++) {
    const content = contentOf(10 * KIB, randomUUID());
    for (const [number, { writer }] of sides.entries()) {
      const { create, upload, current } = await writer.write(content);
      if (index >= WARM_UP) durations[number]?.push(create + upload + current);
    }
  }
  const [without = [], within = []] = durations;
  const ratio = median(within.map((duration, index) => (without[index] ?? 0) / duration));
  printTable(
    "(m) create, upload of 10 KiB and current, one client, four processes",
    ["", "ms", "of without"],
    sides.map(({ name }, number) => [name, median(durations[number] ?? []), number ? ratio : 1]),
  );
  return atLeast("(m) state write with mutual TLS, of without", 0.8, ratio);
}
