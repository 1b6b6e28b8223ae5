import { waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
let organizationName: string;
const lines: string[] = [];

/** Stops NATS, so that only the comparison can transfer changes between the services. */
beforeAll(async () => {
  running = await runWorkspaces({ reconciliationIntervalMs: 50, log: (line) => lines.push(line) });
  owner = await running.person();
  organizationName = (await running.organization(owner)).name;
  await running.nats[Symbol.asyncDispose]();
});
afterAll(() => running[Symbol.asyncDispose]());
beforeEach(() => {
  lines.length = 0;
});

async function newWorkspace(): Promise<string> {
  const settings = { name: running.unique("ws") };
  const { workspace } = await running.service.createWorkspace(
    { organizationName, settings },
    owner,
  );
  return workspace?.id ?? "";
}

const placementOf = async (id: string) => {
  const [row] = await running.sql<{ organization: string; project: string; version: string }>(
    `select organization_id as organization, project_id as project, placement_version as version
     from workspaces where id = $1`,
    [id],
  );
  if (!row) throw new Error("no workspace");
  return row;
};

/** Inserts a row into the state service's database, as if the events about this row had been lost. */
const stateRow = (id: string, of: { placementVersion: string; revision: string }) =>
  running.stateSql(
    `insert into workspace_states (workspace_id, organization_id, project_id, placement_version,
       sealed_epoch, current_version_id, current_position, resource_count, latest_change_at, revision)
     values ($1, 'org-lost', 'prj-lost', $2, 0, 'sv-lost', 1, 3, now(), $3)`,
    [id, of.placementVersion, of.revision],
  );

/** Runs one complete comparison from the beginning. */
async function compare(): Promise<void> {
  await running.sql("update state_comparison set through = 'theirs', after = '', due_at = now()");
  await waitFor(async () => {
    const rows = await running.sql(
      `select from state_comparison
       where through = 'theirs' and after = '' and due_at > now() + interval '2 minutes'`,
    );
    return rows.length === 1;
  });
}

const reported = () =>
  lines
    .map((line) => JSON.parse(line))
    .filter(({ level }) => level === 50)
    .map(({ difference, workspaceIds }) => [difference, workspaceIds]);

test("a summary whose event was lost is repaired, but only by a newer one", async () => {
  const id = await newWorkspace();
  const { version } = await placementOf(id);
  await stateRow(id, { placementVersion: version, revision: "900" });
  await compare();
  const summary = () =>
    running.sql(
      `select current_state_version_id as current, resource_count as count, state_revision as revision
       from workspaces where id = $1`,
      [id],
    );
  expect(await summary()).toEqual([{ current: "sv-lost", count: 3, revision: "900" }]);
  expect(reported()).toEqual([]);

  // Simulates a restore of the state service's database from a backup. The comparison must not revert the rows of the
  // workspaces service; it reports the workspace, and an operator decides what to do.
  await running.stateSql(
    "update workspace_states set revision = 800, resource_count = 1 where workspace_id = $1",
    [id],
  );
  await compare();
  expect(await summary()).toEqual([{ current: "sv-lost", count: 3, revision: "900" }]);
  await waitFor(() => reported().length > 0);
  expect(reported()).toEqual([["stateBehind", [id]]]);
  await running.stateSql("delete from workspace_states where workspace_id = $1", [id]);
  lines.length = 0;
  await compare();
  await waitFor(() => reported().length > 0);
  expect(reported()).toEqual([["unknownToState", [id]]]);
  await running.sql("update workspaces set state_revision = 0 where id = $1", [id]);
});

test("a move that the state service did not receive is sent again", async () => {
  const id = await newWorkspace();
  const { organization, project, version } = await placementOf(id);
  await stateRow(id, { placementVersion: "1", revision: "0" });
  await compare();
  const [row] = await running.stateSql(
    `select organization_id as organization, project_id as project, placement_version as version
     from workspace_states where workspace_id = $1`,
    [id],
  );
  expect(row).toEqual({ organization, project, version });
  expect(reported()).toEqual([]);
});

test("a placement and a summary that no service has assigned are replaced by the owner's", async () => {
  const id = await newWorkspace();
  const { organization, project, version } = await placementOf(id);
  await stateRow(id, { placementVersion: "8999999999999999", revision: "900" });
  await running.sql(
    `update workspaces set state_revision = 8999999999999998, resource_count = 99 where id = $1`,
    [id],
  );
  await compare();
  const placed = await running.stateSql(
    `select organization_id as organization, project_id as project, placement_version as version
     from workspace_states where workspace_id = $1`,
    [id],
  );
  expect(placed).toEqual([{ organization, project, version }]);
  const summary = await running.sql(
    "select state_revision as revision, resource_count as count from workspaces where id = $1",
    [id],
  );
  expect(summary).toEqual([{ revision: "900", count: 3 }]);
  expect(reported()).toEqual([]);
  await running.stateSql("delete from workspace_states where workspace_id = $1", [id]);
  await running.sql("update workspaces set state_revision = 0 where id = $1", [id]);
});

test("a deletion that state lost is sent again", async () => {
  const id = await newWorkspace();
  await running.service.deleteWorkspace({ workspace: { by: { case: "id", value: id } } }, owner);
  await running.stateSql(
    "update workspace_states set dropped_at = null, purged_at = null where workspace_id = $1",
    [id],
  );
  await compare();
  const dropped = await running.stateSql(
    "select from workspace_states where workspace_id = $1 and dropped_at is not null",
    [id],
  );
  expect(dropped).toHaveLength(1);
  expect(reported()).toEqual([]);
});

test("a workspace missing here without a deletion record is only reported, never deleted", async () => {
  const id = "ws-restoredBackup1";
  await stateRow(id, { placementVersion: "1", revision: "5" });
  await compare();
  expect(reported()).toEqual([["unknownHere", [id]]]);
  const kept = await running.stateSql(
    "select current_version_id, dropped_at from workspace_states where workspace_id = $1",
    [id],
  );
  expect(kept).toEqual([{ current_version_id: "sv-lost", dropped_at: null }]);
  await running.stateSql("delete from workspace_states where workspace_id = $1", [id]);
});

test("a workspace that the state service has dropped and the workspaces service has is kept and reported", async () => {
  const id = await newWorkspace();
  const { version } = await placementOf(id);
  await stateRow(id, { placementVersion: version, revision: "0" });
  await running.stateSql(
    `update workspace_states set dropped_at = now(), purged_at = now(), current_version_id = null
     where workspace_id = $1`,
    [id],
  );
  await compare();
  expect(reported()).toEqual([["droppedAtState", [id]]]);
  await expect(placementOf(id)).resolves.toBeDefined();
});

test("a page that cannot be compared is logged as postponed, and compared again", async () => {
  const found = running.toState.lose("ListWorkspaceStates", "request");
  await running.sql("update state_comparison set through = 'theirs', after = '', due_at = now()");
  const postponed = "comparison with the state service postponed";
  await waitFor(() => lines.some((line) => JSON.parse(line).msg === postponed));
  found();
  await compare();
});

test("workspaces are compared even if overdue work cannot be claimed", async () => {
  await running.sql("alter table organization_deletions rename to renamed_deletions");
  try {
    await compare();
    const postponed = "claim of overdue work postponed";
    expect(lines.some((line) => JSON.parse(line).msg === postponed)).toBe(true);
  } finally {
    await running.sql("alter table renamed_deletions rename to organization_deletions");
  }
});

test("reports nothing if nothing differs, and reads many workspaces in a few pages", async () => {
  const organization = (await placementOf(await newWorkspace())).organization;
  await running.stateSql(
    `insert into workspace_states (workspace_id, organization_id, project_id, placement_version,
       sealed_epoch, current_position, resource_count, revision, dropped_at, purged_at)
     select 'ws-many' || n, $1, 'prj-1', 1, 0, 0, 0, 0, now(), now() from generate_series(1, 1200) n`,
    [organization],
  );
  await running.stateSql(
    "delete from workspace_states where dropped_at is not null and workspace_id not like 'ws-many%'",
  );
  await compare();
  expect(reported()).toEqual([]);
});
