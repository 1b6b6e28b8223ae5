import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
let second: Person;
let reader: Person;
let organizationId: string;
let organizationName: string;
let workspaceId: string;

beforeAll(async () => {
  running = await runWorkspaces();
  owner = await running.person();
  second = await running.person();
  reader = await running.person();
  const organization = await running.organization(owner);
  organizationId = organization.id;
  organizationName = organization.name;
  const team = async (member: Person, access: string) => {
    const { team } = await running.teams.createTeam({
      organizationId,
      settings: { name: running.unique("team"), visibility: "secret" },
    });
    const teamId = team?.id ?? "";
    await running.teams.addTeamMember({ teamId, userId: member.id });
    const projectId = organization.defaultProjectId;
    await running.teamAccess.createTeamAccess({
      teamId,
      targetType: "project",
      targetId: projectId,
      access,
    });
  };
  await team(second, "admin");
  await team(reader, "read");
});
afterAll(() => running[Symbol.asyncDispose]());

beforeEach(async () => {
  const settings = { name: running.unique("network") };
  const { workspace } = await running.service.createWorkspace(
    { organizationName, settings },
    owner,
  );
  workspaceId = workspace?.id ?? "";
});

const lock = (as: Person, reason = "") =>
  running.locks.lockWorkspace({ workspaceId, reason }, as).then(({ workspace }) => workspace);
const unlock = (as: Person) =>
  running.locks.unlockWorkspace({ workspaceId }, as).then(({ workspace }) => workspace);
const forceUnlock = (as: Person) =>
  running.locks.forceUnlockWorkspace({ workspaceId }, as).then(({ workspace }) => workspace);
const show = (as: Person) =>
  running.service
    .getWorkspace({ workspace: { by: { case: "id", value: workspaceId } } }, as)
    .then(({ workspace }) => workspace);

describe("locking", () => {
  test("of a locked workspace is refused with the name of the holder, even if the access service does not respond", async () => {
    await lock(second);
    expect(await failureOf(lock(owner))).toMatchObject({
      kind: "conflict",
      reason: "workspace_locked",
      message: `The workspace is locked by User ${second.username}.`,
    });
    const found = running.toAccess.lose("GetPrincipalName", "request");
    const { message } = await failureOf(lock(owner)).finally(found);
    expect(message).toBe(`The workspace is locked by User ${second.id}.`);
  });

  test("succeeds for one of 50 concurrent requests", async () => {
    const attempts = Array.from({ length: 50 }, (_, index) => lock(index % 2 ? owner : second));
    const outcomes = await Promise.allSettled(attempts);
    const won = outcomes.filter(({ status }) => status === "fulfilled");
    const reasons = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [outcome.reason.reason] : [],
    );
    expect(won).toHaveLength(1);
    expect(reasons).toEqual(Array.from({ length: 49 }, () => "workspace_locked"));
    const [row] = await running.sql<{ lock_epoch: string; last_lock_epoch: string }>(
      "select lock_epoch, last_lock_epoch from workspaces where id = $1",
      [workspaceId],
    );
    expect(row?.lock_epoch).toBe(row?.last_lock_epoch);
  });

  test("with a reason that contains a NUL is refused", async () => {
    expect((await failureOf(lock(owner, "a\0b"))).fields).toEqual([
      { field: "reason", detail: "Reason is invalid" },
    ]);
  });

  test("calls no other service", async () => {
    const calls = running.toAccess.calls("GetPrincipalName");
    await lock(owner);
    expect(running.toAccess.calls("GetPrincipalName")).toBe(calls);
  });
});

describe("unlocking", () => {
  test("by the holder releases the lock, immediately visible to state", async () => {
    await lock(owner);
    const unlocked = await unlock(owner);
    expect(unlocked?.lock).toBeUndefined();
    expect(await show(owner)).toEqual(unlocked);
    const { lock: held } = await running.locks.getLock({ workspaceId }, running.identities.state);
    expect(held).toBeUndefined();
  });

  test.each(["request", "answer"] as const)(
    "that fails at state (%s lost) keeps the lock, and a repeat releases it",
    async (loss) => {
      await lock(owner);
      const found = running.toState.lose("SealLock", loss);
      expect(await failureOf(unlock(owner)).finally(found)).toMatchObject({ kind: "unavailable" });
      expect((await show(owner))?.lock).toBeDefined();
      expect((await unlock(owner))?.lock).toBeUndefined();
    },
  );

  test("leaves a new lock in place if a force-unlock came first", async () => {
    await lock(owner);
    const arrived = running.toState.holdUp("SealLock");
    const slow = failureOf(unlock(owner));
    const resume = await arrived;
    await forceUnlock(second);
    await lock(owner, "second");
    resume();
    expect(await slow).toMatchObject({ kind: "conflict", reason: "already_unlocked" });
    expect((await show(owner))?.lock?.reason).toBe("second");
    expect((await unlock(owner))?.lock).toBeUndefined();
  });

  test("holds no row lock while the state service is slow: other requests continue", async () => {
    await lock(owner);
    const arrived = running.toState.holdUp("SealLock");
    const slow = unlock(owner);
    const resume = await arrived;
    expect(await failureOf(lock(second))).toMatchObject({ reason: "workspace_locked" });
    resume();
    expect((await slow)?.lock).toBeUndefined();
  });
});

test("state can request lock and placement; a user may not call methods for state", async () => {
  await lock(owner, "r");
  const response = await running.locks.getLock({ workspaceId }, running.identities.state);
  expect(response.lock).toMatchObject({ holderType: "user", holderId: owner.id, reason: "r" });
  expect(response.placement).toMatchObject({ workspaceId });
  const { placement } = await running.locks.getPlacement({ workspaceId }, running.identities.state);
  expect(placement).toEqual(response.placement);
  expect(await failureOf(running.locks.getLock({ workspaceId }, owner))).toMatchObject({
    reason: "caller_not_declared",
  });
  const missing = running.locks.getLock({ workspaceId: "ws-none" }, running.identities.state);
  expect(await failureOf(missing)).toMatchObject({ kind: "notFound" });
});

describe("whether a lock is stale", () => {
  test("is shown to those who may force-unlock, by one call for all other holders", async () => {
    await lock(second);
    const calls = running.toAccess.calls("BatchCheckActions");
    expect((await show(second))?.lockedStale).toBe(false);
    expect((await show(reader))?.lockedStale).toBeUndefined();
    const after = running.toAccess.calls("BatchCheckActions");
    expect((await show(owner))?.lockedStale).toBe(false);
    expect(running.toAccess.calls("BatchCheckActions")).toBe(after + 1);
    expect(after).toBe(calls);
  });

  test("is decided for a list by one call, whatever the number of holders", async () => {
    const name = running.unique("list");
    for (const [index, holder] of [owner, second, owner].entries()) {
      const { workspace } = await running.service.createWorkspace(
        { organizationName, settings: { name: `${name}-${index}` } },
        owner,
      );
      const id = workspace?.id ?? "";
      await running.locks.lockWorkspace({ workspaceId: id }, holder);
    }
    const third = await running.person();
    const { team } = await running.teams.createTeam({
      organizationId,
      settings: { name: running.unique("team"), organizationAccess: { "manage-workspaces": true } },
    });
    await running.teams.addTeamMember({ teamId: team?.id ?? "", userId: third.id });
    const before = running.toAccess.calls("BatchCheckActions");
    const { workspaces } = await running.service.listWorkspaces(
      { organizationName, searchName: name },
      third,
    );
    expect(workspaces.map(({ lockedStale }) => lockedStale)).toEqual([false, false, false]);
    expect(running.toAccess.calls("BatchCheckActions")).toBe(before + 1);
  });

  test("is absent without a lock, and while the access service does not respond", async () => {
    expect((await show(owner))?.lockedStale).toBeUndefined();
    await lock(second);
    await show(owner);
    const found = running.toAccess.lose("BatchCheckActions", "request");
    expect((await show(owner))?.lockedStale).toBeUndefined();
    found();
    expect((await show(owner))?.lockedStale).toBe(false);
  });
});
