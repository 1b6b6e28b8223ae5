import { allowed } from "@statehouse/authorization";
import { grantsFromAccess } from "@statehouse/rpc";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningAccess, runAccess } from "./running-access.ts";

let access: RunningAccess;
beforeAll(async () => {
  access = await runAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

const grantsOf = async (id: string) => {
  const { grants } = await access.grants.getGrants({ principalType: "user", principalId: id });
  return grants;
};

test("a user without teams has no organizations", async () => {
  const { user } = await access.users.createUser({
    username: "root",
    email: "root@example.com",
    administrator: true,
  });
  expect(await grantsOf(user?.id ?? "")).toMatchObject({
    principalType: "user",
    principalId: user?.id,
    administrator: true,
    organizations: [],
  });
});

test("grants of several teams and organizations are grouped by organization and target", async () => {
  const [owner, member] = [await access.person(), await access.person()];
  for (const organizationId of ["org-one", "org-two"]) {
    await access.organizations.provisionOrganization({ organizationId, creatorUserId: owner.id });
    access.placeProject(`prj-of${organizationId.slice("org-".length)}`, organizationId);
  }
  const teamIds: string[] = [];
  for (const [name, organizationAccess, level] of [
    ["readers", ["read-workspaces", "read-projects"], "read"],
    ["managers", ["read-workspaces", "manage-teams"], "admin"],
  ] as const) {
    const { team } = await access.teams.createTeam({
      organizationId: "org-one",
      settings: {
        name,
        organizationAccess: Object.fromEntries(organizationAccess.map((one) => [one, true])),
      },
    });
    const teamId = team?.id ?? "";
    teamIds.push(teamId);
    await access.teams.addTeamMember({ teamId, userId: member.id });
    await access.teamAccess.createTeamAccess({
      teamId,
      targetType: "project",
      targetId: "prj-ofone",
      access: level,
    });
  }

  const grants = await grantsOf(member.id);
  expect(grants?.organizations).toHaveLength(1);
  const [first] = grants?.organizations ?? [];
  expect(first).toMatchObject({ organizationId: "org-one", owner: false, workspaces: [] });
  expect(first?.teamIds).toEqual(teamIds.toSorted());
  expect(first?.organizationAccess).toEqual(["manage-teams", "read-projects", "read-workspaces"]);
  expect(first?.projects.map(({ access: level }) => level).toSorted()).toEqual(["admin", "read"]);
  expect(new Set(first?.projects.map(({ targetId }) => targetId))).toEqual(new Set(["prj-ofone"]));

  const ofOwner = await grantsOf(owner.id);
  expect(
    ofOwner?.organizations.map(({ organizationId, owner: is }) => [organizationId, is]),
  ).toEqual([
    ["org-one", true],
    ["org-two", true],
  ]);
});

test("another service authorizes with the grants: read allows reading and not writing", async () => {
  const [owner, reader] = [await access.person(), await access.person()];
  const organizationId = "org-decided";
  await access.organizations.provisionOrganization({ organizationId, creatorUserId: owner.id });
  access.placeProject("prj-decided", organizationId);
  const { team } = await access.teams.createTeam({ organizationId, settings: { name: "readers" } });
  const teamId = team?.id ?? "";
  await access.teams.addTeamMember({ teamId, userId: reader.id });
  await access.teamAccess.createTeamAccess({
    teamId,
    targetType: "project",
    targetId: "prj-decided",
    access: "read",
  });
  const load = grantsFromAccess(access.channel, access.identities.state);
  const grants = await load({ type: "user", id: reader.id, versions: "" });
  const target = { organizationId, projectId: "prj-decided", workspaceId: "ws-any" };
  expect(allowed(grants, "state:read", target)).toBe(true);
  expect(allowed(grants, "state:write", target)).toBe(false);
  expect(allowed(grants, "workspace:read", { ...target, projectId: "prj-other" })).toBe(false);
});

test.each([
  ["user", "user-ABCDEFGHabcdefgh"],
  ["team", "team-ABCDEFGHabcdefgh"],
  ["", ""],
])("the principal %s %s is not found", async (principalType, principalId) => {
  await expect(access.grants.getGrants({ principalType, principalId })).rejects.toMatchObject({
    kind: "notFound",
  });
});

test("several checks of actions are answered in their order; unknown principals may do nothing", async () => {
  const [owner, outsider] = [await access.person(), await access.person()];
  const organizationId = "org-checks";
  await access.organizations.provisionOrganization({ organizationId, creatorUserId: owner.id });
  const check = (principalId: string, actions: string[], principalType = "user") => ({
    ...{ principalType, principalId, actions },
    ...{ organizationId, projectId: "prj-1", workspaceId: "ws-1" },
  });
  const { allowed } = await access.grants.batchCheckActions({
    checks: [
      check(outsider.id, ["state:write"]),
      check(owner.id, ["state:write", "workspace:lock"]),
      check(owner.id, ["workspace:unknown", "workspace:lock"]),
      check(owner.id, ["workspace:unknown"]),
      check(owner.id, []),
      check("user-0000000000000000", ["state:write"]),
      check("run-0000000000000000", ["state:write"], "run"),
      check(owner.id, ["state:write"], "robot"),
    ],
  });
  expect(allowed).toEqual([false, true, true, false, false, false, false, false]);
});
