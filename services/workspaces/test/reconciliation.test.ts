import { waitFor } from "@statehouse/testing";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { RETRY_AFTER_MS } from "../pending-sync/domain.ts";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
let organizationName: string;
/** The time of the workspaces service's clock, in epoch ms, while a test stops the clock. */
let stoppedAt: number | undefined;

/** Stops NATS, so that only reconciliation, and no event, can complete interrupted requests. */
beforeAll(async () => {
  running = await runWorkspaces({
    reconciliationIntervalMs: 50,
    now: () => new Date(stoppedAt ?? Date.now()),
  });
  owner = await running.person();
  organizationName = (await running.organization(owner)).name;
  await running.nats[Symbol.asyncDispose]();
});
afterAll(() => running[Symbol.asyncDispose]());
afterEach(() => {
  stoppedAt = undefined;
});

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
const makeDue = (...names: string[]) =>
  running.sql("update organizations set retry_at = now() where name = any($1)", [names]);

/** Moves a workspace to another project, of which the state service is not informed; returns both ids. */
async function unplaced() {
  const id = await workspace();
  const { project } = await running.projects.createProject(
    { organizationName, name: running.unique("elsewhere") },
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
  return { id, projectId: project?.id };
}

test("an organization that is still provisioning becomes active", async () => {
  const name = await unprovisioned();
  await makeDue(name);
  await waitFor(() => running.organizations.getOrganization({ name }, owner));
});

test("work after a slow unit of work has its own time limit", async () => {
  const names = [await unprovisioned(), await unprovisioned()];
  const held = running.toAccess.holdUp("ProvisionOrganization");
  await makeDue(...names);
  const release = await held;
  const heldFrom = Date.now();
  const deadline = running.toAccess.deadlineOf("ProvisionOrganization");
  // The unit is held until another request is complete.
  await workspace();
  const heldUntil = Date.now();
  release();
  for (const name of names) {
    await waitFor(() => running.organizations.getOrganization({ name }, owner));
  }
  const later = running.toAccess.deadlineOf("ProvisionOrganization");
  expect(later - deadline).toBeGreaterThanOrEqual(heldUntil - heldFrom);
});

test("a unit that could outlast its claim is not started, and is due again after the claim", async () => {
  stoppedAt = Date.now() + 60_000;
  const claimed = [await unprovisioned(), await unprovisioned()];
  const next = await unprovisioned();
  const active = () =>
    running.sql("select from organizations where name = any($1) and status = 'active'", [claimed]);
  const held = running.toAccess.holdUp("ProvisionOrganization");
  await makeDue(...claimed);
  const release = await held;
  stoppedAt += RETRY_AFTER_MS - 1;
  await makeDue(next);
  release();
  await waitFor(() => running.organizations.getOrganization({ name: next }, owner));
  expect(await active()).toHaveLength(1);
  stoppedAt += 1;
  await waitFor(async () => (await active()).length === 2);
});

test("a service that does not respond does not delay work that needs another service", async () => {
  stoppedAt = Date.now() - 60_000;
  const name = await unprovisioned();
  const { id } = await unplaced();
  await makeDue(name);
  await running.sql("update workspaces set retry_at = now() where id = $1", [id]);
  const heldByAccess = running.toAccess.holdUp("ProvisionOrganization");
  const heldByState = running.toState.holdUp("SetPlacement");
  // By this time of the clock the organization and the workspace are due, so the worker claims them together.
  stoppedAt += 120_000;
  for (const release of await Promise.all([heldByAccess, heldByState])) release();
  await waitFor(() => running.organizations.getOrganization({ name }, owner));
});

test("a placement that the state service has not confirmed is sent again", async () => {
  const { id, projectId } = await unplaced();
  await running.sql("update workspaces set retry_at = now() where id = $1", [id]);
  const placed = await waitFor(async () => {
    const rows = await running.stateSql<{ project_id: string }>(
      "select project_id from workspace_states where workspace_id = $1",
      [id],
    );
    return rows[0];
  });
  expect(placed.project_id).toBe(projectId);
});

test("a deletion that the state service has not confirmed is sent again, and its record is then removed", async () => {
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
