import { waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
let organizationName: string;

/** Stops NATS, so that only reconciliation, and no event, can complete interrupted requests. */
beforeAll(async () => {
  running = await runWorkspaces({ reconciliationIntervalMs: 50 });
  owner = await running.person();
  organizationName = (await running.organization(owner)).name;
  await running.nats[Symbol.asyncDispose]();
});
afterAll(() => running[Symbol.asyncDispose]());

async function workspace() {
  const settings = { name: running.unique("ws") };
  const { workspace } = await running.service.createWorkspace(
    { organizationName, settings },
    owner,
  );
  return workspace?.id ?? "";
}

/** Creates an organization that the access service does not know; returns its name. */
async function unprovisioned(): Promise<string> {
  const name = running.unique("left");
  const found = running.toAccess.lose("ProvisionOrganization", "request");
  await failureOf(running.organizations.createOrganization({ name, email: "a@b.co" }, owner));
  found();
  return name;
}
const makeDue = (name: string) =>
  running.sql("update organizations set retry_at = now() where name = $1", [name]);

test("an organization that is still provisioning becomes active", async () => {
  const name = await unprovisioned();
  await makeDue(name);
  await waitFor(() => running.organizations.getOrganization({ name }, owner));
});

test("work after a slow unit of work has its own time limit", async () => {
  const HELD_MS = 500;
  const [slow, next] = [await unprovisioned(), await unprovisioned()];
  const held = running.toAccess.holdUp("ProvisionOrganization");
  await makeDue(slow);
  const release = await held;
  const deadline = running.toAccess.deadlineOf("ProvisionOrganization");
  const heldUntil = Date.now() + HELD_MS;
  await makeDue(next);
  await waitFor(() => Date.now() > heldUntil);
  release();
  await waitFor(() => running.organizations.getOrganization({ name: next }, owner));
  const later = running.toAccess.deadlineOf("ProvisionOrganization");
  expect(later - deadline).toBeGreaterThanOrEqual(HELD_MS);
});

test("a placement that state has not confirmed is sent again", async () => {
  const id = await workspace();
  const { project } = await running.projects.createProject(
    { organizationName, name: "elsewhere" },
    owner,
  );
  const found = running.toState.lose("SetPlacement", "request");
  const update = running.service.updateWorkspace(
    {
      workspace: { by: { case: "id", value: id } },
      settings: project ? { projectId: project.id } : {},
    },
    owner,
  );
  expect(await failureOf(update)).toMatchObject({ kind: "unavailable" });
  found();
  await running.sql("update workspaces set retry_at = now() where id = $1", [id]);
  const placed = await waitFor(async () => {
    const rows = await running.stateSql<{ project_id: string }>(
      "select project_id from workspace_states where workspace_id = $1",
      [id],
    );
    return rows[0];
  });
  expect(placed.project_id).toBe(project?.id);
});

test("a deletion that state has not confirmed is sent again, and its record is then removed", async () => {
  const id = await workspace();
  const found = running.toState.lose("DropWorkspace", "request");
  const deletion = running.service.deleteWorkspace(
    { workspace: { by: { case: "id", value: id } } },
    owner,
  );
  expect(await failureOf(deletion)).toMatchObject({ kind: "unavailable" });
  found();
  await running.sql("update workspace_deletions set retry_at = now() where workspace_id = $1", [
    id,
  ]);
  await waitFor(async () => {
    const rows = await running.sql(
      "select from workspace_deletions where workspace_id = $1 and organization_id is null",
      [id],
    );
    return rows.length === 1;
  });
});

test("a deletion lock whose lease has ended is removed", async () => {
  const id = await workspace();
  await running.sql(
    `update workspaces set deletion_lock_epoch = 1, deletion_lock_until = now() where id = $1`,
    [id],
  );
  await waitFor(async () => {
    const rows = await running.sql(
      "select from workspaces where id = $1 and deletion_lock_epoch is null",
      [id],
    );
    return rows.length === 1;
  });
});
