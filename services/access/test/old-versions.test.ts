import type { CallOptions } from "@statehouse/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningAccess, runAccess } from "./running-access.ts";

let access: RunningAccess;
beforeAll(async () => {
  access = await runAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

test("a call with versions from before a revocation creates no credential and no grant", async () => {
  const organizationId = "org-oldversions";
  const [owner, eve] = [await access.person(), await access.person()];
  const { ownersTeamId: teamId = "" } = await access.organizations.provisionOrganization({
    organizationId,
    creatorUserId: owner.id,
  });
  await access.teams.addTeamMember({ teamId, userId: eve.id });
  const versions = await access.versionsOf(eve.secret);
  const before: CallOptions = access.identities.gateway.on({ type: "user", id: eve.id, versions });
  const team = (name: string) =>
    access.teams.createTeam({ organizationId, settings: { name } }, before);
  // This call caches the user's grants under the current versions.
  await team("first");
  await access.teams.removeTeamMember({ teamId, userId: eve.id });
  await expect(team("second")).rejects.toMatchObject({ kind: "forbidden" });
  await expect(
    access.tokens.createOrganizationToken({ organizationId }, before),
  ).rejects.toMatchObject({ kind: "forbidden" });
});
