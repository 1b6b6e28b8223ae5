import { newId } from "@statehouse/postgres/ids";
import { expect, test } from "vitest";
import { organizationId, unusedName } from "../stack/organization.ts";
import { expectStatus } from "../stack/state.ts";
import { type ApiUser, newUser, newWorkspace, useFixture } from "../system/fixture.ts";

const fixture = useFixture();

/**
 * Creates a workspace that eve has locked. She may lock it because her team has the given access level on its project.
 */
async function lockedByEve(access: string) {
  const { stack, organization, readable } = fixture();
  const eve = await newUser(stack);
  const { id: teamId } = await stack.people.newTeam({
    organizationId: await organizationId(stack, organization),
    name: unusedName("writers"),
    members: [eve],
  });
  const grant = await stack.people.grant({ teamId, projectId: readable.id, access });
  const { id } = await newWorkspace(fixture(), {}, readable.id);
  await expectStatus(200, eve.api.post(`/workspaces/${id}/actions/lock`));
  return { id, eve, teamId, grantId: grant.id };
}

const staleFor = async ({ api }: ApiUser, id: string) =>
  (await expectStatus(200, api.get(`/workspaces/${id}`))).body.data.attributes["locked-stale"];

test.each([
  [
    "its holder's team lost its access",
    ({ grantId }: { grantId: string }) =>
      expectStatus(204, fixture().owner.api.delete(`/team-projects/${grantId}`)),
  ],
  [
    "its holder left the team",
    ({ teamId, eve }: { teamId: string; eve: ApiUser }) =>
      fixture().stack.people.removeMember(teamId, eve),
  ],
  [
    "its holder was suspended",
    async ({ eve }: { eve: ApiUser }) => {
      const { api } = await newUser(fixture().stack, { administrator: true });
      await expectStatus(200, api.post(`/admin/users/${eve.id}/actions/suspend`));
    },
  ],
])("a lock is shown as stale to those who may force-unlock after %s", async (_, lose) => {
  const { owner, reader, organization } = fixture();
  const locked = await lockedByEve("write");
  expect(await staleFor(owner, locked.id)).toBe(false);
  await lose(locked);
  expect(await staleFor(owner, locked.id)).toBe(true);
  expect(await staleFor(reader, locked.id)).toBeNull();
  const list = await owner.api.get(
    `/organizations/${organization}/workspaces?filter[locked]=true&page[size]=100`,
  );
  const found = list.body.data.find(({ id }: { id: string }) => id === locked.id);
  expect(found.attributes["locked-stale"]).toBe(true);

  const freed = await expectStatus(
    200,
    owner.api.post(`/workspaces/${locked.id}/actions/force-unlock`),
  );
  expect(freed.body.data.attributes["locked-stale"]).toBeNull();
  const own = await expectStatus(200, owner.api.post(`/workspaces/${locked.id}/actions/lock`));
  expect(own.body.data.attributes["locked-stale"]).toBe(false);
});

test("a lock is not stale while its holder can release it", async () => {
  const { stack, owner, readable } = fixture();
  const { id, teamId, grantId } = await lockedByEve("write");
  await expectStatus(204, owner.api.delete(`/team-projects/${grantId}`));
  expect(await staleFor(owner, id)).toBe(true);
  await stack.people.grant({ teamId, projectId: readable.id, access: "maintain" });
  expect(await staleFor(owner, id)).toBe(false);
});

test("a run's lock is stale after its token's end", async () => {
  const { stack, owner } = fixture();
  const { tokens, locks, reports } = await stack.runnerCalls("runner");
  const { id: workspaceId } = await newWorkspace(fixture());
  const runId = newId("run");
  await tokens.createRunToken({ runId, workspaceId });
  await reports.run({ runId, workspaceId, status: "applying", revision: 1n });
  await locks.lockAsRun({ workspaceId, runId, reason: "applying" });
  expect(await staleFor(owner, workspaceId)).toBe(false);
  await reports.run({ runId, workspaceId, status: "applied", revision: 2n });
  await expect.poll(() => staleFor(owner, workspaceId)).toBe(true);
});
