import { waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
let organizationName: string;
let workspaceId: string;
let name: string;

beforeAll(async () => {
  running = await runWorkspaces();
  owner = await running.person();
  organizationName = (await running.organization(owner)).name;
});
afterAll(() => running[Symbol.asyncDispose]());

beforeEach(async () => {
  name = running.unique("doomed");
  workspaceId = await create(name);
});

async function create(name: string): Promise<string> {
  const settings = { name, tagNames: { values: [`only-${name}`] } };
  const { workspace } = await running.service.createWorkspace(
    { organizationName, settings },
    owner,
  );
  return workspace?.id ?? "";
}

const byId = () => ({ by: { case: "id" as const, value: workspaceId } });
const byName = () => ({ by: { case: "name" as const, value: { organizationName, name } } });
const show = () => running.service.getWorkspace({ workspace: byId() }, owner);
const force = (as = owner, workspace: ReturnType<typeof byId | typeof byName> = byId()) =>
  running.service.deleteWorkspace({ workspace }, as);
const safe = () => running.service.safeDeleteWorkspace({ workspace: byId() }, owner);
const lock = () => running.locks.lockWorkspace({ workspaceId }, owner);

/** Returns what remains of the workspace in this service: its deletion record and the numbers of its other rows. */
async function remains() {
  const rows = await running.sql<{ deletion: Record<string, unknown> }>(
    "select to_jsonb(d) as deletion from workspace_deletions d where workspace_id = $1",
    [workspaceId],
  );
  const [counts] = await running.sql<Record<string, number>>(
    `select (select count(*)::int from workspaces where id = $1) as workspaces,
       (select count(*)::int from tag_bindings where workspace_id = $1) as bindings,
       (select count(*)::int from tags where name = $2) as tags`,
    [workspaceId, `only-${name}`],
  );
  return { ...counts, deletions: rows.map(({ deletion }) => deletion) };
}

const gone = () => ({
  workspaces: 0,
  bindings: 0,
  tags: 0,
  deletions: [
    {
      workspace_id: workspaceId,
      organization_id: null,
      project_id: null,
      name: null,
      retry_at: null,
    },
  ],
});

const droppedAtState = async () => {
  const rows = await running.stateSql<{ dropped: boolean }>(
    "select dropped_at is not null as dropped from workspace_states where workspace_id = $1",
    [workspaceId],
  );
  return rows.some(({ dropped }) => dropped);
};

describe("force delete", () => {
  test.each([
    ["id", byId],
    ["name", byName],
  ])("by %s leaves only the id and frees the name", async (_, ref) => {
    await force(owner, ref());
    expect(await failureOf(show())).toMatchObject({ kind: "notFound" });
    expect(await remains()).toEqual(gone());
    expect(await droppedAtState()).toBe(true);
    expect(await create(name)).not.toBe(workspaceId);
    expect(await failureOf(force())).toMatchObject({ kind: "notFound" });
  });

  test.each(["request", "answer"] as const)(
    "is unavailable while state's %s is lost; the repeat completes it, and the name is free",
    async (loss) => {
      const found = running.toState.lose("DropWorkspace", loss);
      try {
        expect(await failureOf(force())).toMatchObject({ kind: "unavailable" });
        expect(await failureOf(show())).toMatchObject({ kind: "notFound" });
        expect(await failureOf(force(owner, byName()))).toMatchObject({ kind: "unavailable" });
        expect(await failureOf(safe())).toMatchObject({ kind: "unavailable" });
        expect(await failureOf(force(await running.person()))).toMatchObject({ kind: "notFound" });
        await create(name);
      } finally {
        found();
      }
      await waitFor(async () => {
        await force().catch(() => {});
        return (await remains()).deletions[0]?.retry_at === null;
      });
      expect(await droppedAtState()).toBe(true);
    },
  );

  test("that is not repeated is completed by its event", async () => {
    const found = running.toState.lose("DropWorkspace", "request");
    await failureOf(force());
    found();
    await waitFor(droppedAtState);
    await waitFor(async () => (await remains()).deletions[0]?.retry_at === null);
    expect(await remains()).toEqual(gone());
  });
});

describe("safe delete", () => {
  test("of a workspace without resources leaves only its id", async () => {
    await safe();
    expect(await remains()).toEqual(gone());
    expect(await droppedAtState()).toBe(true);
  });

  test("blocks all other writers while the state service is called", async () => {
    const arrived = running.toState.holdUp("GetManagedResources");
    const deletion = safe();
    const resume = await arrived;
    expect(await failureOf(lock())).toMatchObject({ kind: "conflict", reason: "workspace_locked" });
    expect(await failureOf(safe())).toMatchObject({ kind: "conflict", reason: "workspace_locked" });
    const { lock: held } = await running.locks.getLock({ workspaceId }, running.identities.state);
    expect(held).toBeUndefined();
    resume();
    await deletion;
    expect(await remains()).toEqual(gone());
  });

  test("whose lease has ended changes nothing if another caller has locked", async () => {
    const arrived = running.toState.holdUp("GetManagedResources");
    const deletion = failureOf(safe());
    const resume = await arrived;
    await running.sql("update workspaces set deletion_lock_until = now() where id = $1", [
      workspaceId,
    ]);
    await lock();
    resume();
    expect(await deletion).toMatchObject({ kind: "conflict", reason: "workspace_locked" });
    expect((await show()).workspace?.lock).toBeDefined();
  });

  test("releases its lock immediately if the state service does not respond", async () => {
    const found = running.toState.lose("GetManagedResources", "answer");
    expect(await failureOf(safe()).finally(found)).toMatchObject({ kind: "unavailable" });
    await lock();
  });
});
