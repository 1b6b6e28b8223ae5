import { newOrganization, organizationId } from "../stack/organization.ts";
import { type Stack, startStack } from "../stack/stack.ts";
import { expectStatus, type StateFile, stateFile, writeState } from "../stack/state.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";
import { type Caller, callerOf } from "./caller.ts";
import { type Seed, seed } from "./seed.ts";
import { nothingToExtract } from "./state-writer.ts";

/** A separate stack with one organization that has `size` workspaces. */
export interface SizedFixture extends AsyncDisposable {
  size: number;
  stack: Stack;
  organization: string;
  organizationId: string;
  /** The number of state versions of each workspace in `workspaceIds`. */
  versions: number;
  /** A state with the lineage of the state versions of `workspaceIds`. */
  state: StateFile;
  /** Projects other than the default one; each has the same number of workspaces. */
  projectIds: readonly string[];
  /** Some workspaces of a project that `owner` and `confined` may read. */
  workspaceIds: readonly string[];
  owner: Caller;
  /** A user who may read three projects. */
  confined: Caller;
}

const PROJECTS = 500;
const PER_PROJECT = 200;
const SHOWN = 8;

const projectsOf = (size: number) =>
  Math.min(PROJECTS, Math.max(4, Math.floor(size / PER_PROJECT)));
const idOf = (prefix: string, n: number) => `${prefix}-${String(n).padStart(16, "0")}`;
const id = (prefix: string, n: string) => `'${prefix}-' || lpad((${n})::text, 16, '0')`;

/**
 * Starts a stack with an organization of `size` workspaces in up to 500 projects; each workspace has `versions` state
 * versions.
 */
export async function startSizedFixture(size: number, versions: number): Promise<SizedFixture> {
  await using starting = new AsyncDisposableStack();
  const stack = starting.use(
    await startStack({ blobs: "directory", settings: { LOG_LEVEL: "warn" } }),
  );
  const guest = await stack.people.newUser();
  const owner = callerOf(stack, await stack.people.newUser());
  const organization = await newOrganization(owner.api);
  const { id: workspaceId, relationships } = await newWorkspaceIn(owner.api, organization, {
    name: "original",
  });
  const state = stateFile({ resources: 3 });
  const written = await expectStatus(201, writeState(owner.api, workspaceId, state));
  await nothingToExtract(stack);
  const projects = projectsOf(size);
  await seed(stack.databases.state, (to) =>
    fillState(to, { workspaceId, versionId: written.body.data.id, projects, size, versions }),
  );
  await seed(stack.databases.workspaces, (to) =>
    fill(to, { workspaceId, projectId: relationships.project.data.id, projects, size, versions }),
  );
  const internalId = await organizationId(stack, organization);
  const projectIds = Array.from({ length: projects }, (_, index) => idOf("prj", index + 1));
  const { id: teamId } = await stack.people.newTeam({
    organizationId: internalId,
    name: "confined",
    members: [guest],
  });
  for (const projectId of projectIds.slice(0, 3)) {
    await stack.people.grant({ teamId, projectId, access: "write" });
  }
  const started = starting.move();
  return {
    size,
    stack,
    organization,
    organizationId: internalId,
    versions,
    state,
    projectIds,
    workspaceIds: Array.from({ length: SHOWN }, (_, index) => idOf("ws", index * projects + 1)),
    owner: { ...owner, name: "owner" },
    confined: { ...callerOf(stack, guest), name: "confined to three projects" },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/**
 * Fills the organization:
 *
 * - Half of the workspaces have the flat tag `common`, one in a thousand has `rare`, and one in five has the binding
 *   `env=prod`.
 * - One in ten has an applied run; one in ten thousand, and at least one, has a planning run.
 */
async function fill(
  { sql, copies, inBulk }: Seed,
  {
    workspaceId,
    projectId,
    projects,
    size,
    versions,
  }: {
    workspaceId: string;
    projectId: string;
    projects: number;
    size: number;
    versions: number;
  },
): Promise<void> {
  await copies("projects", projectId, projects, {
    id: id("prj", "n"),
    name: "'project ' || n",
  });
  // The prefixes of names repeat every four workspaces. Every tenth group of four successive workspaces has runs, so
  // that workspaces with runs have all prefixes and are spread over the whole list in every sort order.
  const hasRun = "(n / 4 % 10 = 0 or n % 10000 = 1)";
  const ifRun = (value: string) => `case when ${hasRun} then ${value} end`;
  await inBulk("workspaces", () =>
    copies("workspaces", workspaceId, size - 1, {
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
      select w.current_run_id, w.id, 'runner', 1, w.current_run_status, w.current_run_created_at, false, false,
        true, false, false, jsonb_build_object('status', w.current_run_status)
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

/** Gives each of the other workspaces `versions` copies of the first workspace's state version. */
async function fillState(
  { sql, copies, inBulk }: Seed,
  {
    workspaceId,
    versionId,
    projects,
    size,
    versions,
  }: { workspaceId: string; versionId: string; projects: number; size: number; versions: number },
): Promise<void> {
  const turn = `((n - 1) % ${versions} + 1)`;
  await inBulk("workspace_states", () =>
    copies(
      "workspace_states",
      workspaceId,
      size - 1,
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
    copies("state_versions", versionId, (size - 1) * versions, {
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
