import { connectNats, type Event, eventType, subscribe } from "@statehouse/events";
import { WorkspaceStateChangedSchema } from "@statehouse/proto/statehouse/state/v1/events";
import { createLogger } from "@statehouse/runtime";
import { waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
let organizationName: string;
const received: Event[] = [];
const ears = new AsyncDisposableStack();

beforeAll(async () => {
  running = await runWorkspaces();
  const nats = ears.use(connectNats({ url: running.nats.url, name: "test" }));
  const keep = async (event: Event) => void received.push(event);
  const types = [
    "organization.created",
    "project.created",
    "workspace.created",
    "workspace.updated",
    "workspace.locked",
    "workspace.unlocked",
    "workspace.deleted",
  ];
  ears.use(
    subscribe({
      nats,
      durable: "test",
      filter: "statehouse.workspaces.>",
      handlers: Object.fromEntries(types.map((t) => [`statehouse.workspaces.${t}.v1`, keep])),
      deadLetter: async () => {},
      logger: createLogger({ service: "test", level: "silent" }),
    }),
  );
  owner = await running.person();
  organizationName = (await running.organization(owner)).name;
});
afterAll(async () => {
  await ears.disposeAsync();
  await running[Symbol.asyncDispose]();
});

const of = (subject: string) => received.filter((event) => event.subject === subject);
const typesOf = (subject: string) =>
  of(subject).map(({ type }) => type.replace(/^statehouse\.workspaces\.(.*)\.v1$/, "$1"));

test("every write of a workspace publishes one event, in order, with growing revisions", async () => {
  const settings = { name: running.unique("ws") };
  const created = await running.service.createWorkspace({ organizationName, settings }, owner);
  const workspaceId = created.workspace?.id ?? "";
  const workspace = { by: { case: "id" as const, value: workspaceId } };
  await running.service.updateWorkspace({ workspace, settings: { autoApply: true } }, owner);
  await running.tags.addWorkspaceTags(
    { workspaceId, tags: [{ by: { case: "name", value: "a" } }] },
    owner,
  );
  const { workspace: locked } = await running.locks.lockWorkspace(
    { workspaceId, reason: "r" },
    owner,
  );
  await running.locks.unlockWorkspace({ workspaceId }, owner);
  await running.locks.lockWorkspace({ workspaceId }, owner);
  await running.locks.forceUnlockWorkspace({ workspaceId }, owner);
  await running.service.safeDeleteWorkspace({ workspace }, owner);
  const types = await waitFor(() => {
    const types = typesOf(workspaceId);
    return types.at(-1) === "workspace.deleted" && types;
  });
  expect(types).toEqual([
    "workspace.created",
    "workspace.updated",
    "workspace.updated",
    "workspace.locked",
    "workspace.unlocked",
    "workspace.locked",
    "workspace.unlocked",
    "workspace.deleted",
  ]);
  const revisions = of(workspaceId).map(({ revision }) => revision);
  expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
  expect(new Set(revisions).size).toBe(revisions.length);
  expect(JSON.parse(of(workspaceId)[3]?.json ?? "")).toMatchObject({
    workspaceId,
    holderType: "user",
    holderId: owner.id,
    reason: "r",
    epoch: String(locked?.lock?.epoch),
  });
  expect(JSON.parse(of(workspaceId)[6]?.json ?? "")).toMatchObject({ forced: true });
});

test("a refused request publishes no event", async () => {
  const { organization } = await running.organizations.getOrganization(
    { name: organizationName },
    owner,
  );
  await running.projects.createProject({ organizationName, name: "one" }, owner);
  await running.projects.createProject({ organizationName, name: "one" }, owner).catch(() => {});
  const { project } = await running.projects.createProject(
    { organizationName, name: "two" },
    owner,
  );
  await waitFor(() => typesOf(project?.id ?? "").length === 1);
  expect(received.filter(({ type }) => type.endsWith("project.created.v1"))).toHaveLength(2);
  expect(typesOf(organization?.id ?? "")).toEqual(["organization.created"]);
});

test("a workspace shows the summary that the state service returns, regardless of the values in events", async () => {
  const create = async () => {
    const settings = { name: running.unique("ws") };
    const request = { organizationName, settings };
    return (await running.service.createWorkspace(request, owner)).workspace?.id ?? "";
  };
  const show = async (id: string) => {
    const workspace = { by: { case: "id" as const, value: id } };
    return (await running.service.getWorkspace({ workspace }, owner)).workspace;
  };
  const summary = (id: string, revision: number, resourceCount: number) =>
    running.stateSql(
      `insert into workspace_states (workspace_id, placement_version, sealed_epoch, current_version_id,
         current_position, resource_count, latest_change_at, revision)
       values ($1, 0, 0, 'sv-' || $2::bigint, $2::bigint, $3, '2026-01-02T03:04:05.678Z', $2::bigint)
       on conflict (workspace_id) do update set current_version_id = excluded.current_version_id,
         resource_count = excluded.resource_count, revision = excluded.revision`,
      [id, revision, resourceCount],
    );
  const [workspaceId, lastId] = [await create(), await create()];
  const nats = ears.use(connectNats({ url: running.nats.url, name: "publisher" }));
  const connection = await nats.connection();
  const say = (id: string, revision: number, resourceCount: number) =>
    connection.publish(
      eventType(WorkspaceStateChangedSchema),
      JSON.stringify({
        workspaceId: id,
        currentStateVersionId: `sv-${revision}`,
        resourceCount,
        latestChangeAt: "2026-01-02T03:04:05.678Z",
        revision: String(revision),
        aFieldOfALaterRelease: true,
      }),
    );
  await summary(workspaceId, 30, 3);
  await summary(lastId, 1, 1);
  say(workspaceId, 20, 2);
  say(workspaceId, 40, 9);
  say("ws-deletedLongAgo", 99, 1);
  say(lastId, 1, 1);
  await waitFor(async () => (await show(lastId))?.resourceCount === 1);
  expect(await show(workspaceId)).toMatchObject({
    currentStateVersionId: "sv-30",
    resourceCount: 3,
  });
  // The state service publishes an older summary, as after a restore of its database from a backup.
  await summary(workspaceId, 10, 1);
  await summary(lastId, 2, 2);
  say(workspaceId, 50, 5);
  say(lastId, 2, 2);
  await waitFor(async () => (await show(lastId))?.resourceCount === 2);
  expect(await show(workspaceId)).toMatchObject({ resourceCount: 3 });
});
