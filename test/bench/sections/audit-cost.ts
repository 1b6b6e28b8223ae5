import path from "node:path";
import { databaseOf } from "@statehouse/standalone/running-database";
import { Client } from "pg";
import { document } from "../../stack/http.ts";
import { expectStatus, inlineState, stateFile } from "../../stack/state.ts";
import { type Aim, atLeast } from "../aim.ts";
import type { Ground } from "../bench.ts";
import type { Contender } from "../contest.ts";
import type { PlannedRequest } from "../load/plan.ts";
import { type RunningStart, startNpm } from "../npm-start.ts";
import { median } from "../statistics.ts";
import { print } from "../table.ts";
import { printRates } from "./rates.ts";

const INSERTS = 200;

interface Side {
  name: string;
  start: RunningStart;
  workspaceIds: readonly string[];
  downloads: readonly string[];
}

/**
 * (r) Measures what the audit trail costs: `npm start` of this checkout, alternating with `npm start` of another
 * checkout that has no audit trail.
 */
export async function auditCost(ground: Ground): Promise<Aim[]> {
  const { checkout } = ground.options;
  if (checkout === undefined) {
    print("(r) is left out: it needs --checkout with a checkout that has no audit trail");
    return [];
  }
  const here = path.resolve(import.meta.dirname, "../../..");
  await using without = await startNpm(checkout);
  await using within = await startNpm(here);
  const sides = [
    await sideOf("without audit trail", without, ground.options.clients),
    await sideOf("with audit trail", within, ground.options.clients),
  ];
  const aims = [
    await compare(ground, sides, "show", 0.98, ({ workspaceIds }) =>
      workspaceIds.map((id) => [get(`/api/v2/workspaces/${id}`)]),
    ),
    await compare(ground, sides, "lock and unlock", 0.95, ({ workspaceIds }) =>
      workspaceIds.map((id) =>
        ["lock", "unlock"].map((action) => ({
          method: "POST",
          path: `/api/v2/workspaces/${id}/actions/${action}`,
          body: "{}",
          expect: 200,
        })),
      ),
    ),
  ];
  const requestsOf = ({ downloads }: Side) => downloads.map((address) => [get(address)]);
  await compare(ground, sides, "state download", 0, requestsOf);
  await printInsert(within);
  // A download waits for the fsync of its audit record. How long an fsync takes depends only on the disk, so the last
  // comparison measures downloads without the fsync.
  for (const { start } of sides) await commitWithoutFsync(start);
  aims.push(await compare(ground, sides, "state download, commits without fsync", 0.9, requestsOf));
  return aims;
}

/** Makes the databases of `npm start` confirm commits before they are on the disk. */
async function commitWithoutFsync({ data }: RunningStart): Promise<void> {
  const client = new Client({ connectionString: databaseOf(data, "state") });
  await client.connect();
  try {
    await client.query("alter system set synchronous_commit = off");
    await client.query("select pg_reload_conf()");
  } finally {
    await client.end();
  }
}

const get = (address: string): PlannedRequest => ({ method: "GET", path: address, expect: 200 });

async function sideOf(name: string, start: RunningStart, count: number): Promise<Side> {
  const { owner, organization } = start;
  const workspaceIds: string[] = [];
  const downloads: string[] = [];
  for (let index = 0; index < count; index++) {
    const made = document("workspaces", { name: `audited-${index}` });
    const { body } = await expectStatus(
      201,
      owner.post(`/organizations/${organization}/workspaces`, made),
    );
    const { id } = body.data;
    workspaceIds.push(id);
    await expectStatus(200, owner.post(`/workspaces/${id}/actions/lock`, {}));
    const state = inlineState(stateFile({ resources: 20 }));
    const version = await expectStatus(201, owner.post(`/workspaces/${id}/state-versions`, state));
    downloads.push(new URL(version.body.data.attributes["hosted-state-download-url"]).pathname);
    await expectStatus(200, owner.post(`/workspaces/${id}/actions/unlock`, {}));
  }
  return { name, start, workspaceIds, downloads };
}

async function compare(
  ground: Ground,
  sides: readonly Side[],
  what: string,
  least: number,
  connectionsOf: (side: Side) => PlannedRequest[][],
): Promise<Aim> {
  const contenders = sides.map((side): Contender => {
    const connections = connectionsOf(side);
    return {
      name: side.name,
      plan: {
        origin: side.start.url,
        headers: {
          authorization: `Bearer ${side.start.token}`,
          "content-type": "application/vnd.api+json",
        },
        connections,
      },
      processes: [],
      requestsEach: connections[0]?.length ?? 1,
    };
  });
  const measured = await ground.contest(contenders);
  printRates(`(r) ${what}`, measured, { ratio: "of without" });
  return atLeast(`(r) ${what} with audit trail, of without`, least, measured[1]?.ratio ?? 0);
}

/**
 * Prints how long the database takes to insert one audit record, and how much of that time is the fsync of the commit.
 */
async function printInsert({ data }: RunningStart): Promise<void> {
  const client = new Client({ connectionString: databaseOf(data, "state") });
  await client.connect();
  try {
    const durations: number[] = [];
    for (const commit of ["on", "off"]) {
      await client.query(`set synchronous_commit = ${commit}`);
      const times: number[] = [];
      for (let index = 0; index < INSERTS; index++) {
        const begun = performance.now();
        await client.query(
          `insert into audit_records (id, organization, actor_type, actor_id, action, resource_type,
             changed_attributes, outcome)
           values ($1, '_', 'service', 'bench', 'bench.insert', 'bench', '{}', 'succeeded')`,
          [`ae-bench${index}${commit}`],
        );
        times.push(performance.now() - begun);
      }
      durations.push(median(times));
    }
    const [on = Number.NaN, off = Number.NaN] = durations;
    const [all, fsync] = [on, on - off].map((ms) => ms.toFixed(2));
    print(`    one record alone: ${all} ms, of which the fsync of its commit is ${fsync} ms`);
  } finally {
    await client.end();
  }
}
