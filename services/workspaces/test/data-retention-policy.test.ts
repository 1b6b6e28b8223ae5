import { afterAll, beforeAll, expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
beforeAll(async () => {
  running = await runWorkspaces();
  owner = await running.person();
});
afterAll(() => running[Symbol.asyncDispose]());

test("the state service receives the retention of each workspace of a batch, and other callers are refused", async () => {
  const administrator = await running.person({ administrator: true });
  const { id: organizationId, name: organizationName } = await running.organization(owner);
  const { id: otherId, name: otherName } = await running.organization(owner);
  const workspace = async (organization: string, name: string) => {
    const request = { organizationName: organization, settings: { name } };
    return (await running.service.createWorkspace(request, owner)).workspace?.id ?? "";
  };
  const [own, kept, inherits, elsewhere] = [
    await workspace(organizationName, "own"),
    await workspace(organizationName, "kept"),
    await workspace(organizationName, "inherits"),
    await workspace(otherName, "elsewhere"),
  ];
  const ofWorkspace = (value: string) => ({ of: { case: "workspaceId" as const, value } });
  const days = (deleteOlderThanNDays: number) => ({ kind: "delete-older", deleteOlderThanNDays });
  await running.retention.setDataRetentionPolicy({ target: ofWorkspace(own), ...days(7) }, owner);
  await running.retention.setDataRetentionPolicy(
    { target: ofWorkspace(kept), kind: "dont-delete" },
    owner,
  );
  const organization = { of: { case: "organizationName" as const, value: organizationName } };
  await running.retention.setDataRetentionPolicy({ target: organization, ...days(30) }, owner);
  const site = { of: { case: "site" as const, value: true } };
  await running.retention.setDataRetentionPolicy({ target: site, ...days(90) }, administrator);
  await running.admin.updateAnyOrganization({ name: otherName, plan: "free" }, administrator);

  const workspaceIds = [own, kept, inherits, elsewhere, "ws-0000000000000000", "junk"];
  const { retentions } = await running.retention.batchGetRetention(
    { workspaceIds },
    running.identities.state,
  );
  const shown = Object.fromEntries(
    retentions.map(({ workspaceId, organizationId, plan, deleteOlderThanNDays }) => [
      workspaceId,
      [organizationId, plan, deleteOlderThanNDays],
    ]),
  );
  expect(shown).toEqual({
    [own]: [organizationId, "premium", 7],
    [kept]: [organizationId, "premium", undefined],
    [inherits]: [organizationId, "premium", 30],
    [elsewhere]: [otherId, "free", 90],
  });
  const ofStates = { kind: "delete-older", stateVersionsDeleteAfterNDays: 12 };
  await running.retention.setDataRetentionPolicy({ target: organization, ...ofStates }, owner);
  const again = await running.retention.batchGetRetention(
    { workspaceIds: [inherits] },
    running.identities.state,
  );
  expect(again.retentions.map((one) => one.deleteOlderThanNDays)).toEqual([12]);
  for (const identity of [owner, running.identities.access]) {
    const response = running.retention.batchGetRetention({ workspaceIds }, identity);
    expect(await failureOf(response)).toMatchObject({ kind: "forbidden" });
  }
});

test("the installation has one policy, even if set concurrently", async () => {
  const administrator = await running.person({ administrator: true });
  const site = { of: { case: "site" as const, value: true } };
  await running.retention.deleteDataRetentionPolicy({ target: site }, administrator);
  const set = (deleteOlderThanNDays: number) =>
    running.retention.setDataRetentionPolicy(
      { target: site, kind: "delete-older", deleteOlderThanNDays },
      administrator,
    );
  const answers = await Promise.all([1, 2, 3, 4].map(set));
  expect(new Set(answers.map(({ policy }) => policy?.id)).size).toBe(1);
});

test.each(["request", "answer"] as const)(
  "a change is confirmed once state uses it: 503 while its %s is lost, and a repeat completes it",
  async (loss) => {
    const administrator = await running.person({ administrator: true });
    const { name } = await running.organization(owner);
    const target = { of: { case: "organizationName" as const, value: name } };
    const versions = async () => {
      const [own] = await running.sql<{ version: string }>(
        "select retention_version as version from general_settings",
      );
      const [received] = await running.stateSql<{ version: string }>(
        "select version from retention_version",
      );
      return [own?.version, received?.version];
    };
    const changes = {
      set: () => running.retention.setDataRetentionPolicy({ target, kind: "dont-delete" }, owner),
      delete: () => running.retention.deleteDataRetentionPolicy({ target }, owner),
      plan: () => running.admin.updateAnyOrganization({ name, plan: "free" }, administrator),
    };
    const stop = running.toState.lose("RaiseRetentionVersion", loss);
    await running.admin.updateAnyOrganization({ name, workspaceLimit: 10 }, administrator);
    stop();
    for (const change of Object.values(changes)) {
      const found = running.toState.lose("RaiseRetentionVersion", loss);
      expect(await failureOf(change())).toMatchObject({ kind: "unavailable" });
      found();
      await change();
      const [own, received] = await versions();
      expect(received).toBe(own);
    }
  },
);
