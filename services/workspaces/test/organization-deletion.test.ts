import { runWithDeadline } from "@statehouse/runtime";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
let outsider: Person;
beforeAll(async () => {
  running = await runWorkspaces({ reconciliationIntervalMs: 200 });
  owner = await running.person();
  outsider = await running.person();
});
afterAll(() => running[Symbol.asyncDispose]());

/** Creates an organization with workspaces and objects of most other kinds. */
async function furnished(workspaces = 3) {
  const { id, name } = await running.organization(owner);
  const { project } = await running.projects.createProject(
    { organizationName: name, name: "tagged", tagBindings: [{ key: "cost", value: "42" }] },
    owner,
  );
  const { agentPool } = await running.agentPools.createAgentPool(
    { organizationName: name, settings: { name: "agents" } },
    owner,
  );
  const target = { of: { case: "organizationName" as const, value: name } };
  await running.retention.setDataRetentionPolicy({ target, kind: "dont-delete" }, owner);
  await running.reservedTagKeys.createReservedTagKey({ organizationName: name, key: "env" }, owner);
  await running.sshKeys.createSshKey(
    { organizationName: name, name: "deploy", value: "a key" },
    owner,
  );
  const poolId = agentPool?.id ?? "";
  await running.organizations.updateOrganization(
    { name, settings: { defaultExecutionMode: "agent", defaultAgentPoolId: poolId } },
    owner,
  );
  for (let number = 0; number < workspaces; number++) {
    await running.service.createWorkspace(
      {
        organizationName: name,
        settings: {
          name: `workspace-${number}`,
          tagNames: { values: ["flat"] },
          ...(number === 0 && project ? { projectId: project.id } : {}),
        },
      },
      owner,
    );
  }
  return { id, name };
}

const remove = (name: string, as = owner) => running.organizations.deleteOrganization({ name }, as);
const get = (name: string, as = owner) => running.organizations.getOrganization({ name }, as);

/**
 * Returns the rows that contain the organization's id in any column, by table. Omits audit records, because a deletion
 * keeps them.
 */
async function traces(
  sql: RunningWorkspaces["sql"],
  id: string,
): Promise<Record<string, unknown[]>> {
  const tables = await sql<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_name not in ('outbox', 'schema_migrations')
       and table_name not like 'audit\\_%'`,
  );
  const found: Record<string, unknown[]> = {};
  for (const { name } of tables) {
    const rows = await sql(`select * from ${name} t where to_jsonb(t)::text like $1`, [`%${id}%`]);
    if (rows.length > 0) found[name] = rows;
  }
  return found;
}

test("a deleted organization leaves only ids in all services", async () => {
  const { id, name } = await furnished();
  await remove(name);
  expect(await failureOf(get(name))).toMatchObject({ kind: "notFound" });
  expect(await traces(running.sql, id)).toEqual({
    organization_deletions: [
      {
        organization_id: id,
        name: null,
        deleted_by_type: null,
        deleted_by_id: null,
        retry_at: null,
      },
    ],
  });
  const atAccess = await traces(running.accessSql, id);
  expect(Object.keys(atAccess)).toEqual(["organizations"]);
  // Waits until the state service has purged all dropped workspaces.
  await waitFor(async () => {
    const [left] = await running.stateSql<{ count: string }>(
      "select count(*) from workspace_states where dropped_at is not null and purged_at is null",
    );
    return left?.count === "0";
  });
});

test("its name is free immediately, and a new organization with it inherits nothing", async () => {
  proves("Organizations/deleting cascades");
  const { name } = await furnished();
  const found = running.toAccess.lose("DropOrganization", "request");
  try {
    expect(await failureOf(remove(name))).toMatchObject({ kind: "unavailable" });
    expect(await failureOf(get(name))).toMatchObject({ kind: "notFound" });
    const taken = await running.organizations.createOrganization(
      { name, email: "new@example.com" },
      outsider,
    );
    expect(taken.organization?.defaultExecutionMode).toBe("local");
    const { workspaces } = await running.service.listWorkspaces(
      { organizationName: name },
      outsider,
    );
    expect(workspaces).toEqual([]);
    expect(await failureOf(get(name))).toMatchObject({ kind: "notFound" });
  } finally {
    found();
  }
});

test.each([
  ["DropOrganization", "request"],
  ["DropOrganization", "answer"],
  ["DropWorkspace", "request"],
  ["DropWorkspace", "answer"],
] as const)(
  "while %s's %s is lost the organization is invisible, and a repeat completes the deletion",
  async (method, loss) => {
    const { id, name } = await furnished(2);
    const channel = method === "DropOrganization" ? running.toAccess : running.toState;
    const found = channel.lose(method, loss);
    try {
      expect(await failureOf(remove(name))).toMatchObject({ kind: "unavailable" });
      expect(await failureOf(get(name))).toMatchObject({ kind: "notFound" });
      expect(await failureOf(remove(name))).toMatchObject({ kind: "unavailable" });
      expect(await failureOf(remove(name, outsider))).toMatchObject({ kind: "notFound" });
    } finally {
      found();
    }
    await remove(name);
    expect(Object.keys(await traces(running.sql, id))).toEqual(["organization_deletions"]);
    expect(await failureOf(remove(name))).toMatchObject({ kind: "notFound" });
  },
);

test("reconciliation completes a deletion that is not repeated", async () => {
  const { id, name } = await furnished(2);
  const found = running.toState.lose("DropWorkspace", "request");
  await failureOf(remove(name));
  found();
  await running.sql(
    "update organization_deletions set retry_at = now() where organization_id = $1",
    [id],
  );
  await waitFor(async () => {
    const left = Object.keys(await traces(running.sql, id));
    return left.length === 1 && left[0] === "organization_deletions";
  });
});

test("a large organization is deleted in parts after the response, and is not shown meanwhile", async () => {
  const { id, name } = await furnished(1);
  await running.sql(
    `insert into workspaces select (jsonb_populate_record(w, jsonb_build_object(
       'id', 'ws-large' || n, 'name', 'large-' || n))).*
     from workspaces w, generate_series(1, 500) n where w.organization_id = $1`,
    [id],
  );
  const workspacesLeft = () =>
    running.sql<{ id: string }>(
      "select id from workspaces where organization_id = $1 order by name desc limit 1",
      [id],
    );
  const [workspace] = await workspacesLeft();
  const found = running.toState.lose("DropWorkspace", "request");
  try {
    // The request's deadline leaves no time to delete a batch of workspaces, so reconciliation deletes all of them
    // after the response.
    await runWithDeadline(Date.now() + 5000, () => remove(name));
    expect(await failureOf(get(name))).toMatchObject({ kind: "notFound" });
    const ref = { workspace: { by: { case: "id" as const, value: workspace?.id ?? "" } } };
    expect(await failureOf(running.service.getWorkspace(ref, owner))).toMatchObject({
      kind: "notFound",
    });
    await running.organizations.createOrganization({ name, email: "new@example.com" }, owner);
    const { workspaces } = await running.service.listWorkspaces({ organizationName: name }, owner);
    expect(workspaces).toEqual([]);
    expect(await workspacesLeft()).toEqual([workspace]);
  } finally {
    found();
  }
  const makeDue = "update organization_deletions set retry_at = now() where organization_id = $1";
  await running.sql(makeDue, [id]);
  await waitFor(
    async () => (await running.sql("select from organizations where id = $1", [id])).length === 0,
    {
      timeout: 80_000,
    },
  );
  expect(Object.keys(await traces(running.sql, id))).toEqual(["organization_deletions"]);
}, 120_000);

test("a delayed provisioning is refused by the tombstone", async () => {
  const { id, name } = await running.organization(owner);
  await remove(name);
  const late = running.provision({ organizationId: id, creatorUserId: owner.id, version: 9n });
  expect(await failureOf(late)).toMatchObject({ kind: "notFound" });
});
