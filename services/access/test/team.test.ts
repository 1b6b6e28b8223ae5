import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningAccess, runAccess } from "./running-access.ts";

let access: RunningAccess;
let count = 0;
beforeAll(async () => {
  access = await runAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

async function organization() {
  const organizationId = `org-team${++count}`;
  const owner = await access.person();
  const { ownersTeamId } = await access.organizations.provisionOrganization({
    organizationId,
    creatorUserId: owner.id,
  });
  return { organizationId, owner, ownersTeamId };
}

const team = async (organizationId: string, name: string, visibility = "") =>
  (await access.teams.createTeam({ organizationId, settings: { name, visibility } })).team?.id ??
  "";

test("an id in a request means the user with that id, even if another user has it as a name", async () => {
  proves("Isolation/names that are others' ids");
  const { organizationId, owner, ownersTeamId } = await organization();
  const teamId = await team(organizationId, "ops");
  const [invited, thief] = [await access.person(), await access.person()];
  for (const { id: userId } of [invited, thief])
    await access.teams.addTeamMember({ teamId, userId });
  await access.sql("update users set username = $1 where id = $2", [invited.id, thief.id]);
  const request = { teamId: ownersTeamId ?? "", users: [invited.id] };
  await access.teams.addTeamMembers(request, access.as(owner.secret));
  const { team: owners } = await access.teams.getTeam(
    { id: request.teamId },
    access.as(owner.secret),
  );
  const members = owners?.members.map(({ userId }) => userId).toSorted();
  expect(members).toEqual([owner.id, invited.id].toSorted());
});

test("a refused change of a team names the action that the member is not allowed", async () => {
  const { organizationId } = await organization();
  const teamId = await team(organizationId, "ops");
  const member = await access.person();
  await access.teams.addTeamMember({ teamId, userId: member.id });
  const request = { teamId, users: [member.id] };
  await expect(
    access.teams.addTeamMembers(request, access.as(member.secret)),
  ).rejects.toMatchObject({
    kind: "forbidden",
    message: "You are not allowed to do this to the team (manage-members).",
  });
});

describe("a new team", () => {
  test("is secret by default", async () => {
    const { organizationId } = await organization();
    const answer = await access.teams.createTeam({ organizationId, settings: { name: "ops" } });
    expect(answer.team).toMatchObject({ name: "ops", visibility: "secret", usersCount: 0 });
  });

  test("has a name that is unique in its organization; of ten concurrent creations one succeeds", async () => {
    const [one, two] = [await organization(), await organization()];
    await team(two.organizationId, "same");
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => team(one.organizationId, "same")),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") {
        expect(outcome.reason).toMatchObject({
          kind: "invalid",
          fields: [{ field: "name", detail: "Name has already been taken" }],
        });
      }
    }
    await expect(team(one.organizationId, "owners")).rejects.toMatchObject({ kind: "invalid" });
  });

  test("in an unknown organization is not found", async () => {
    await expect(team("org-unknown", "x")).rejects.toMatchObject({ kind: "notFound" });
  });
});

describe("team members", () => {
  test("lose the rights of the team when they leave", async () => {
    const { organizationId } = await organization();
    const member = await access.person();
    const teamId = await team(organizationId, "leaving");
    await access.teams.addTeamMember({ teamId, userId: member.id });
    const versions = await access.versionsOf(member.secret);
    await access.teams.removeTeamMember({ teamId, userId: member.id });
    expect(await access.versionsOf(member.secret)).not.toBe(versions);
    const { grants } = await access.grants.getGrants({
      principalType: "user",
      principalId: member.id,
    });
    // The user is still a member of the organization, but the membership alone gives no permission.
    expect(grants?.organizations).toMatchObject([{ organizationId, teamIds: [], owner: false }]);
  });

  test("keep a last owner, even if two leave concurrently", async () => {
    const { owner, ownersTeamId: teamId } = await organization();
    const second = await access.person();
    await access.teams.addTeamMember({ teamId, userId: second.id });
    const outcomes = await Promise.allSettled(
      [owner, second].map(({ id }) => access.teams.removeTeamMember({ teamId, userId: id })),
    );
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused.map(({ reason }) => reason)).toMatchObject([
      { kind: "conflict", reason: "last_owner" },
    ]);
  });

  test("are not found if the team or user is unknown", async () => {
    const { owner, ownersTeamId } = await organization();
    const unknown = { kind: "notFound" };
    const add = (teamId: string, userId: string) => access.teams.addTeamMember({ teamId, userId });
    await expect(add("team-ABCDEFGHabcdefgh", owner.id)).rejects.toMatchObject(unknown);
    await expect(add(ownersTeamId, "user-ABCDEFGHabcdefgh")).rejects.toMatchObject(unknown);
  });
});

describe("a team's access to a project", () => {
  test("is refused for a foreign project, an unknown project and an unknown level", async () => {
    const [own, foreign] = [await organization(), await organization()];
    const teamId = await team(own.organizationId, "refused");
    access.placeProject("prj-foreign", foreign.organizationId);
    const create = (projectId: string, level: string) =>
      access.teamAccess.createTeamAccess({
        teamId,
        targetType: "project",
        targetId: projectId,
        access: level,
      });
    await expect(create("prj-foreign", "read")).rejects.toMatchObject({ kind: "notFound" });
    await expect(create("prj-unknown", "read")).rejects.toMatchObject({ kind: "notFound" });
    access.placeProject("prj-refused", own.organizationId);
    await expect(create("prj-refused", "own")).rejects.toMatchObject({ kind: "invalid" });
  });
});
