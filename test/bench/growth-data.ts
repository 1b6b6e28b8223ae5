import { databaseOf } from "@statehouse/standalone/running-database";
import { api } from "../stack/http.ts";
import { expectStatus } from "../stack/state.ts";
import { type RunningStart, startNpm, thisCheckout } from "./npm-start.ts";
import { type Seed, seed } from "./seed.ts";
import { fill, newMember, type Server } from "./server.ts";

/** `npm start` with one organization that has many workspaces. */
export interface Grown extends AsyncDisposable {
  size: number;
  start: RunningStart;
  /** The server with the token of the owner. */
  owner: Server;
  /** The server with the token of a team that may read and write three projects. */
  member: Server;
}

const PROJECTS = 500;
const PER_PROJECT = 200;

const projectsOf = (size: number) =>
  Math.min(PROJECTS, Math.max(4, Math.floor(size / PER_PROJECT)));
const id = (prefix: string, n: string) => `'${prefix}-' || lpad((${n})::text, 16, '0')`;

/**
 * Starts `npm start` with `size` workspaces in up to 500 projects. Each of them has `versions` state versions, except
 * one workspace for each connection, which is created through the API.
 */
export async function startGrown(
  size: number,
  { connections, versions }: { connections: number; versions: number },
): Promise<Grown> {
  await using starting = new AsyncDisposableStack();
  const start = starting.use(await startNpm(thisCheckout));
  await start.meter("stop");
  const { url, token, organization } = start;
  const name = `${size.toLocaleString("en")} workspaces`;
  const owner = await fill(
    { name, url, token, organization },
    { connections, workspaces: connections },
  );
  const workspaceId = owner.own[0]?.id ?? "";
  const client = api(url, token);
  const shown = await expectStatus(200, client.get(`/workspaces/${workspaceId}`));
  const current = client.get(`/workspaces/${workspaceId}/current-state-version`);
  const { relationships } = shown.body.data;
  const original: Original = {
    workspaceId,
    projectId: relationships.project.data.id,
    versionId: (await expectStatus(200, current)).body.data.id,
    projects: projectsOf(size),
    count: Math.max(0, size - connections),
    versions,
  };
  await seed(databaseOf(start.data, "state"), (to) => seedStates(to, original));
  await seed(databaseOf(start.data, "workspaces"), (to) => seedWorkspaces(to, original));
  const seeded = [1, 2].map((n) => `prj-${String(n).padStart(16, "0")}`);
  const member = { ...owner, token: await newMember(owner, [original.projectId, ...seeded]) };
  const started = starting.move();
  return { size, start, owner, member, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/** The rows that are copied, and how many copies of them are made. */
interface Original {
  workspaceId: string;
  projectId: string;
  versionId: string;
  projects: number;
  /** The number of seeded workspaces. */
  count: number;
  /** The number of state versions of each seeded workspace. */
  versions: number;
}

/**
 * Seeds workspaces:
 *
 * - Half of them have the flat tag `common`, one in a thousand has `rare`, and one in five has the binding `env=prod`.
 * - One in ten has an applied run; one in ten thousand, and at least one, has a planning run.
 */
async function seedWorkspaces(
  { sql, copies, inBulk }: Seed,
  { workspaceId, projectId, projects, count, versions }: Original,
): Promise<void> {
  await copies("projects", projectId, projects, { id: id("prj", "n"), name: "'project ' || n" });
  // The prefixes of names repeat every four workspaces. Every tenth group of four successive workspaces has runs, so
  // that workspaces with runs have all prefixes and are spread over the whole list in every sort order.
  const ifRun = (value: string) => `case when n / 4 % 10 = 0 or n % 10000 = 1 then ${value} end`;
  await inBulk("workspaces", () =>
    copies("workspaces", workspaceId, count, {
      id: id("ws", "n"),
      name: "(array['net', 'app', 'data', 'edge'])[1 + n % 4] || '-' || md5(n::text) || '-' || n",
      project_id: id("prj", `1 + (n - 1) % ${projects}`),
      created_at: "now() - n * interval '1 second'",
      latest_change_at: "case when n % 2 = 0 then now() - (n % 1000) * interval '1 minute' end",
      current_run_id: ifRun(id("run", "n")),
      latest_run_id: ifRun(id("run", "n")),
      current_run_status: ifRun("case when n % 10000 = 1 then 'planning' else 'applied' end"),
      current_state_version_id: id("sv", `n::bigint * ${versions}`),
      current_run_created_at: ifRun("now() - (n % 777) * interval '1 minute'"),
    }),
  );
  await sql(`
    insert into runs (id, workspace_id, runner, revision, status, created_at, plan_only,
        policy_check_failed, ended, measured, in_window, report)
      select w.current_run_id, w.id, 'runner', 1, w.current_run_status, w.current_run_created_at,
        false, false, true, false, false, jsonb_build_object('status', w.current_run_status)
      from workspaces w where w.current_run_id is not null;
    insert into tag_bindings (id, organization_id, workspace_id, key, value, through_tags, created_at)
      select 'tb-' || row_number() over (), w.organization_id, w.id, b.key, b.value, b.value = '', now()
      from workspaces w,
        (values ('common', '', 2), ('rare', '', 1000), ('env', 'prod', 5)) b (key, value, one_in)
      where w.id ~ '^ws-0+[0-9]+$' and right(w.id, 9)::int / 4 % one_in = 0;
    delete from workspace_counts;
    insert into workspace_counts
      select organization_id, project_id, count(*) from workspaces group by 1, 2`);
}

/** Seeds the states of the workspaces, with copies of one state version. */
async function seedStates(
  { sql, copies, inBulk }: Seed,
  { workspaceId, versionId, projects, count, versions }: Original,
): Promise<void> {
  const turn = `((n - 1) % ${versions} + 1)`;
  await inBulk("workspace_states", () =>
    copies(
      "workspace_states",
      workspaceId,
      count,
      {
        workspace_id: id("ws", "n"),
        project_id: id("prj", `1 + (n - 1) % ${projects}`),
        current_version_id: id("sv", `n::bigint * ${versions}`),
        current_position: String(versions),
      },
      "workspace_id",
    ),
  );
  await inBulk("state_versions", () =>
    copies("state_versions", versionId, count * versions, {
      id: id("sv", "n"),
      workspace_id: id("ws", `(n - 1) / ${versions} + 1`),
      position: turn,
      serial: turn,
    }),
  );
  await sql(`
    delete from state_version_counts;
    insert into state_version_counts
      select workspace_id, status, count(*) from state_versions group by 1, 2`);
}
