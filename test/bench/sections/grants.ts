import { newOrganization, organizationId } from "../../stack/organization.ts";
import { type Stack, startProcesses, startStack } from "../../stack/stack.ts";
import { expectStatus } from "../../stack/state.ts";
import { projectAccess } from "../../stack/team-access.ts";
import { newWorkspaceIn } from "../../stack/workspace.ts";
import { type Aim, atLeast, atMost } from "../aim.ts";
import type { Ground } from "../bench.ts";
import { type Caller, callerOf } from "../caller.ts";
import { startChild } from "../child.ts";
import type { RevocationPlan, RevocationResult } from "../load/revocation-plan.ts";
import { seed } from "../seed.ts";
import { type SizedFixture, startSizedFixture } from "../sized-fixture.ts";
import { print, printTable } from "../table.ts";
import { printRates } from "./rates.ts";

const TEAMS = 200;
const GRANTS = 5000;
const READERS = 32;
const CHANGING_SECONDS = 6;
const PACE = { warmUp: 1, round: 1, rounds: 6 };

/** (h) Measures the cost of many grants, and of grants that change while callers read. */
export async function grants(ground: Ground): Promise<Aim[]> {
  const aims = await manyGrants(ground);
  return [...aims, ...(await changingGrants())];
}

async function manyGrants(ground: Ground): Promise<Aim[]> {
  await using fixture = await startSizedFixture(ground.options.sizes.at(-1) ?? 0, 1);
  const granted = await inManyTeams(fixture);
  const paths = {
    show: (id: string) => `/api/v2/workspaces/${id}`,
    "list of 20": () =>
      `/api/v2/organizations/${fixture.organization}/workspaces?${encodeURI("page[size]=20")}`,
  };
  const aims: Aim[] = [];
  for (const [what, least] of [
    ["show", 0.9],
    ["list of 20", 0.5],
  ] as const) {
    const contender = ({ name, headers }: Caller) => ({
      name,
      plan: {
        origin: fixture.stack.url,
        headers,
        connections: fixture.workspaceIds.map((id) => [
          { method: "GET", path: paths[what](id), expect: 200 } as const,
        ]),
      },
      processes: [{ name: "statehouse", pid: process.pid }, ground.postgres],
    });
    const measured = await ground.contest([contender(fixture.owner), contender(granted)], PACE);
    const among = `among ${fixture.size.toLocaleString("en")}`;
    printRates(`(h) ${what}, ${among}`, measured, { ratio: "of the owner's" });
    const ratio = measured[1]?.ratio ?? 0;
    aims.push(atLeast(`(h) ${what} ${among}, ${granted.name}, of the owner's`, least, ratio));
  }
  return aims;
}

/** Creates a user in 200 teams, which together have up to 5,000 grants on all projects. */
async function inManyTeams({ stack, organizationId, projectIds }: SizedFixture): Promise<Caller> {
  const person = await stack.people.newUser();
  const team = await stack.people.newTeam({ organizationId, name: "many-1", members: [person] });
  await seed(stack.databases.access, async ({ sql, copies }) => {
    const teamId = (n: string) => `'team-' || lpad((${n})::text, 16, '0')`;
    await copies("teams", team.id, TEAMS - 1, { id: teamId("n"), name: "'many-' || n + 1" });
    await sql(
      `insert into team_members (team_id, user_id, organization_id, created_at)
       select ${teamId("n")}, $1, $2, now() from generate_series(1, ${TEAMS - 1}) n`,
      [person.id, organizationId],
    );
    await sql(
      `insert into team_accesses
         (id, team_id, target_type, target_id, organization_id, access, permissions, created_at)
       select 'tprj-' || lpad(n::text, 16, '0'),
         case when n % ${TEAMS} = 0 then $1 else ${teamId(`n % ${TEAMS}`)} end,
         'project', ($3::text[])[1 + (n / ${TEAMS} + n) % cardinality($3::text[])], $2,
         (array['read', 'write', 'maintain'])[1 + n % 3], '{}', now()
       from generate_series(1, ${GRANTS}) n
       on conflict (team_id, target_id) do nothing`,
      [team.id, organizationId, projectIds],
    );
  });
  const name = `in ${TEAMS} teams with ${GRANTS.toLocaleString("en")} grants`;
  return { ...callerOf(stack, person), name };
}

/**
 * Counts stale responses after changes of grants, in one process and in four: one of several processes could miss a
 * change of grants that it has cached.
 */
async function changingGrants(): Promise<Aim[]> {
  const rows: (string | number)[][] = [];
  const aims: Aim[] = [];
  const ways = { "one process": startStack, "four processes": startProcesses };
  for (const [name, start] of Object.entries(ways)) {
    await using stack = await start({ blobs: "directory", settings: { LOG_LEVEL: "warn" } });
    await using watcher = startChild<RevocationPlan, RevocationResult>(
      new URL("../load/revocation.ts", import.meta.url),
    );
    const found = await watcher.ask(await revocationPlan(stack));
    if (found.checked === 0) throw new Error(`${name}: no response could be checked`);
    rows.push([name, found.changes / found.seconds, found.checked / found.seconds, found.stale]);
    if (found.stale > 0) print(`    ${name}: ${found.problems.slice(0, 3).join(", ")}`);
    aims.push(atMost(`(h) stale answers after a change of grants, ${name}`, 0, found.stale));
  }
  printTable(
    `(h) grants that change while ${READERS} clients read`,
    ["", "changes/s", "checked reads/s", "stale"],
    rows,
  );
  print("    Checked: sent after a change was confirmed, answered before the next one was sent.");
  return aims;
}

async function revocationPlan(stack: Stack): Promise<RevocationPlan> {
  const owner = callerOf(stack, await stack.people.newUser());
  const organization = await newOrganization(owner.api);
  const { id, relationships } = await newWorkspaceIn(owner.api, organization);
  const readers = await Promise.all(Array.from({ length: READERS }, () => stack.people.newUser()));
  const team = await stack.people.newTeam({
    organizationId: await organizationId(stack, organization),
    name: "readers",
    members: readers,
  });
  const grant = projectAccess(team.id, relationships.project.data.id);
  const granted = await expectStatus(200, owner.api.post("/team-projects", grant));
  return {
    origin: stack.url,
    path: `/api/v2/workspaces/${id}`,
    readers: readers.map((reader) => callerOf(stack, reader).headers),
    headers: owner.headers,
    grants: "/api/v2/team-projects",
    grant: JSON.stringify(grant),
    grantId: granted.body.data.id,
    seconds: CHANGING_SECONDS,
  };
}
