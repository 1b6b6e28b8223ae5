import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { projectAccess } from "../stack/team-access.ts";
import { errorDetails, namesOf, newUser, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();
const teamsPath = () => `/organizations/${fixture().organization}/teams`;

/** Creates a team in the fixture's organization, as its owner. */
async function newTeam(attributes: Record<string, unknown> = {}) {
  const made = await fixture().owner.api.post(
    teamsPath(),
    document("teams", { name: unusedName("team"), ...attributes }),
  );
  expect(made.status).toBe(201);
  return made.body.data;
}

/** Creates a new member of the organization, in a team with these permissions. */
async function newMember(organizationAccess: Record<string, boolean> = {}) {
  const { stack, owner } = fixture();
  const member = await newUser(stack);
  const team = await newTeam({ "organization-access": organizationAccess });
  const invited = await owner.api.post(
    `/organizations/${fixture().organization}/organization-memberships`,
    document(
      "organization-memberships",
      { email: `${member.username}@example.com` },
      { teams: { data: [{ type: "teams", id: team.id }] } },
    ),
  );
  const membershipId = invited.body.data.id;
  await member.api.post(`/organization-memberships/${membershipId}/actions/accept`);
  return { ...member, team, membershipId };
}

const ownersTeam = async () =>
  (await fixture().owner.api.get(`${teamsPath()}?filter[names]=owners`)).body.data[0];

test("a team can be created, shown, searched, changed and deleted", async () => {
  proves("Teams and users/teams: create, list with", "Versioning/2023-01-17");
  const { owner, organization } = fixture();
  const team = await newTeam({
    visibility: "organization",
    "sso-team-id": "group-1",
    "organization-access": { "manage-workspaces": true, "read-projects": null },
  });
  expect(team.id).toMatch(/^team-[A-Za-z0-9]{16}$/);
  expect(team.attributes).toMatchObject({
    "users-count": 0,
    visibility: "organization",
    "sso-team-id": "group-1",
    "allow-member-token-management": true,
    permissions: { "can-destroy": true, "can-update-membership": true },
  });
  expect(team.attributes["organization-access"]).toMatchObject({
    "manage-workspaces": true,
    "read-projects": false,
    "manage-agent-pools": false,
  });
  expect(team.relationships.organization.data.id).toBe(organization);
  const path = `/teams/${team.id}`;
  expect((await owner.api.get(path)).body.data).toEqual(team);
  const { name } = team.attributes;
  const part = name.slice(2, -2).toUpperCase();
  expect(namesOf(await owner.api.get(`${teamsPath()}?q=${part}`))).toEqual([name]);
  expect(namesOf(await owner.api.get(`${teamsPath()}?filter[names]=${name},nobody`))).toEqual([
    name,
  ]);
  expect(namesOf(await owner.api.get(`${teamsPath()}?q=no-team-is-called-so`))).toEqual([]);
  expect((await owner.api.get(`${teamsPath()}?page[size]=0`)).status).toBe(400);
  expect((await owner.api.get(`${teamsPath()}?include=elephants`)).status).toBe(400);
  expect((await owner.api.get(`${path}?include=elephants`)).status).toBe(400);

  const changed = await owner.api.patch(
    path,
    document("teams", {
      visibility: "secret",
      "sso-team-id": null,
      "allow-member-token-management": false,
      "organization-access": { "manage-workspaces": false },
    }),
  );
  expect(changed.status).toBe(200);
  expect(changed.body.data.attributes).toMatchObject({
    name,
    visibility: "secret",
    "sso-team-id": null,
    "allow-member-token-management": false,
  });
  expect(changed.body.data.attributes["organization-access"]["manage-workspaces"]).toBe(false);
  expect((await owner.api.delete(path)).status).toBe(204);
  expect((await owner.api.get(path)).status).toBe(404);
  expect((await owner.api.delete(path)).status).toBe(404);
});

test("all problems of a team are reported", async () => {
  proves("Teams and users/teams: what is wrong");
  const { owner } = fixture();
  const wrong = await owner.api.post(
    teamsPath(),
    document("teams", {
      name: "a+b",
      visibility: "public",
      "organization-access": { fly: true, "manage-teams": "yes" },
    }),
  );
  expect(wrong.status).toBe(422);
  expect(problems(wrong)).toEqual({
    "/data/attributes/name": "Name is invalid",
    "/data/attributes/visibility": "Visibility must be secret or organization",
    "/data/attributes/organization-access/fly": "Organization access 'fly' is unknown",
    "/data/attributes/organization-access/manage-teams": "Manage teams must be true or false",
  });
  const team = await newTeam();
  const other = await newTeam();
  const { name } = team.attributes;
  const taken = { "/data/attributes/name": "Name has already been taken" };
  expect(problems(await owner.api.post(teamsPath(), document("teams", { name })))).toEqual(taken);
  const renamed = await owner.api.patch(`/teams/${other.id}`, document("teams", { name }));
  expect(renamed.status).toBe(422);
  expect(problems(renamed)).toEqual(taken);
});

describe("the owners team", () => {
  test("can be neither deleted nor renamed, and is never empty", async () => {
    proves("Teams and users/the owners team");
    const { owner } = fixture();
    const { id } = await ownersTeam();
    expect((await owner.api.delete(`/teams/${id}`)).status).toBe(409);
    const renamed = await owner.api.patch(`/teams/${id}`, document("teams", { name: "others" }));
    expect(renamed.status).toBe(409);
    const body = { data: [{ type: "users", id: owner.username }] };
    const emptied = await owner.api.delete(`/teams/${id}/relationships/users`, body);
    expect(emptied.status).toBe(409);
    expect(errorDetails(emptied)[0]).toContain("at least one member");
    const shown = await owner.api.get(`/teams/${id}?include=organization_memberships.user`);
    const [membership] = shown.body.data.relationships["organization-memberships"].data;
    expect(shown.body.included).toContainEqual(
      expect.objectContaining({ type: "users", id: owner.id }),
    );
    const byMembership = { data: [membership] };
    const path = `/teams/${id}/relationships/organization-memberships`;
    expect((await owner.api.delete(path, byMembership)).status).toBe(409);
    expect((await owner.api.delete(`/organization-memberships/${membership.id}`)).status).toBe(409);
  });

  test("can be changed by owners only, regardless of other rights", async () => {
    proves("Teams and users/the owners team");
    const manager = await newMember({
      "manage-teams": true,
      "manage-membership": true,
      "manage-organization-access": true,
      "access-secret-teams": true,
    });
    const { id } = await ownersTeam();
    const self = { data: [{ type: "users", id: manager.username }] };
    const attempts = [
      manager.api.post(`/teams/${id}/relationships/users`, self),
      manager.api.post(`/teams/${id}/authentication-token`),
      manager.api.patch(`/teams/${id}`, document("teams", { visibility: "organization" })),
      manager.api.delete(`/teams/${id}`),
      manager.api.post(
        `/organizations/${fixture().organization}/organization-memberships`,
        document(
          "organization-memberships",
          { email: "accomplice@example.com" },
          { teams: { data: [{ type: "teams", id }] } },
        ),
      ),
    ];
    for (const attempt of attempts) expect((await attempt).status).toBe(404);
    expect((await fixture().owner.api.post(`/teams/${id}/relationships/users`, self)).status).toBe(
      204,
    );
    expect((await manager.api.patch(`/teams/${id}`, document("teams", {}))).status).toBe(200);
    await fixture().owner.api.delete(`/teams/${id}/relationships/users`, self);
    expect((await manager.api.patch(`/teams/${id}`, document("teams", {}))).status).toBe(404);
  });
});

describe("secret teams can be seen", () => {
  test("by owners, their members and callers who may see secret teams; others get not found", async () => {
    proves("Teams and users/teams: visibility secret and");
    const { owner } = fixture();
    const secret = await newTeam();
    const open = await newTeam({ visibility: "organization" });
    const member = await newMember();
    const viewer = await newMember({ "access-secret-teams": true });
    const body = { data: [{ type: "users", id: member.username }] };
    expect((await member.api.get(`/teams/${secret.id}`)).status).toBe(404);
    expect(namesOf(await member.api.get(teamsPath()))).not.toContain(secret.attributes.name);
    expect(namesOf(await member.api.get(teamsPath()))).toContain(open.attributes.name);
    expect((await viewer.api.get(`/teams/${secret.id}`)).status).toBe(200);
    expect((await fixture().outsider.api.get(teamsPath())).status).toBe(404);
    await owner.api.post(`/teams/${secret.id}/relationships/users`, body);
    expect((await member.api.get(`/teams/${secret.id}`)).status).toBe(200);
    expect(namesOf(await member.api.get(teamsPath()))).toContain(secret.attributes.name);
  });
});

describe("team members", () => {
  test("are added and removed by name and by membership, and repeats change nothing", async () => {
    proves("Teams and users/members by user and by membership", "Versioning/2022-10-12");
    const { owner, stack } = fixture();
    const team = await newTeam();
    const member = await newMember();
    const users = `/teams/${team.id}/relationships/users`;
    const memberships = `/teams/${team.id}/relationships/organization-memberships`;
    const byName = { data: [{ type: "users", id: member.username.toUpperCase() }] };
    const byMembership = { data: [{ type: "organization-memberships", id: member.membershipId }] };
    const count = async () =>
      (await owner.api.get(`/teams/${team.id}`)).body.data.attributes["users-count"];
    expect((await owner.api.post(users, byName)).status).toBe(204);
    expect((await owner.api.post(users, byName)).status).toBe(204);
    expect(await count()).toBe(1);
    expect((await owner.api.delete(memberships, byMembership)).status).toBe(204);
    expect((await owner.api.delete(memberships, byMembership)).status).toBe(204);
    expect(await count()).toBe(0);
    expect((await owner.api.post(memberships, byMembership)).status).toBe(204);
    const included = await owner.api.get(
      `${teamsPath()}?include=users&filter[names]=${team.attributes.name}`,
    );
    expect(included.body.included).toMatchObject([{ type: "users", id: member.id }]);
    expect((await owner.api.delete(users, byName)).status).toBe(204);
    expect(await count()).toBe(0);

    const outsider = await newUser(stack);
    const unknown = { data: [{ type: "users", id: outsider.username }] };
    const unknownMembership = {
      data: [{ type: "organization-memberships", id: "ou-ABCDEFGHabcdefgh" }],
    };
    for (const method of ["POST", "DELETE"]) {
      expect((await owner.api.send(method, users, unknown)).status).toBe(404);
      expect((await owner.api.send(method, memberships, unknownMembership)).status).toBe(404);
      expect((await owner.api.send(method, users, { data: [{ type: "teams" }] })).status).toBe(422);
      expect((await owner.api.send(method, memberships, { data: 1 })).status).toBe(422);
    }
  });
});

test("named like another user's id are not added in that user's place", async () => {
  proves("Isolation/names that are others' ids");
  const { owner } = fixture();
  const team = await newTeam();
  const [invited, thief] = [await newMember(), await newMember()];
  const renamed = await thief.api.patch(
    "/account/update",
    document("users", { username: invited.id.toUpperCase() }),
  );
  expect(problems(renamed)).toEqual({ "/data/attributes/username": "Username is invalid" });
  const added = await owner.api.post(`/teams/${team.id}/relationships/users`, {
    data: [{ type: "users", id: invited.id }],
  });
  expect(added.status).toBe(204);
  const shown = await owner.api.get(`/teams/${team.id}`);
  expect(shown.body.data.relationships.users.data).toEqual([{ type: "users", id: invited.id }]);
});

describe("each organization permission alone", () => {
  test("manage-teams may create, change and delete teams, and grants no organization permission", async () => {
    proves(
      "Teams and users/teams: each organization-access flag",
      "Versioning/2024-06-25",
      "Versioning/2024-04-08",
    );
    const { api } = await newMember({ "manage-teams": true, "access-secret-teams": true });
    const name = unusedName("managed");
    const made = await api.post(teamsPath(), document("teams", { name }));
    expect(made.status).toBe(201);
    const path = `/teams/${made.body.data.id}`;
    expect((await api.patch(path, document("teams", { visibility: "organization" }))).status).toBe(
      200,
    );
    const access = document("teams", { "organization-access": { "manage-projects": true } });
    expect((await api.patch(path, access)).status).toBe(404);
    const withAccess = {
      name: unusedName("managed"),
      "organization-access": { "manage-projects": true },
    };
    expect((await api.post(teamsPath(), document("teams", withAccess))).status).toBe(404);
    expect((await api.delete(path)).status).toBe(204);
  });

  test("manage-teams may send unchanged permissions, as clients do", async () => {
    proves("Teams and users/teams: each organization-access flag");
    const { api } = await newMember({ "manage-teams": true });
    const { id } = await newTeam({
      visibility: "organization",
      "organization-access": { "read-projects": true },
    });
    const rename = (access: Record<string, boolean>) =>
      api.patch(
        `/teams/${id}`,
        document("teams", { name: unusedName("renamed"), "organization-access": access }),
      );
    const renamed = await rename({ "read-projects": true, "manage-projects": false });
    expect(renamed.status).toBe(200);
    expect(renamed.body.data.attributes["organization-access"]["read-projects"]).toBe(true);
    expect((await rename({ "read-projects": false })).status).toBe(404);
    expect((await rename({ "manage-projects": true })).status).toBe(404);
  });

  test("manage-membership may change team members and nothing else", async () => {
    proves("Teams and users/teams: each organization-access flag", "Versioning/2023-02-16");
    const team = await newTeam({ visibility: "organization" });
    const { api, username } = await newMember({ "manage-membership": true });
    const body = { data: [{ type: "users", id: username }] };
    expect((await api.post(`/teams/${team.id}/relationships/users`, body)).status).toBe(204);
    expect((await api.patch(`/teams/${team.id}`, document("teams", {}))).status).toBe(404);
    expect((await api.delete(`/teams/${team.id}`)).status).toBe(404);
  });

  test("manage-organization-access may change permissions and nothing else", async () => {
    proves("Teams and users/teams: each organization-access flag");
    const team = await newTeam({ visibility: "organization" });
    const { api } = await newMember({ "manage-organization-access": true });
    const access = document("teams", { "organization-access": { "read-projects": true } });
    const changed = await api.patch(`/teams/${team.id}`, access);
    expect(changed.status).toBe(200);
    expect(changed.body.data.attributes["organization-access"]["read-projects"]).toBe(true);
    expect((await api.patch(`/teams/${team.id}`, document("teams", { name: "no" }))).status).toBe(
      404,
    );
  });

  test("without any of them may create nothing", async () => {
    proves("Teams and users/teams: each organization-access flag");
    const { api, team } = await newMember();
    expect((await api.post(teamsPath(), document("teams", { name: "none" }))).status).toBe(404);
    expect((await api.patch(`/teams/${team.id}`, document("teams", {}))).status).toBe(404);
  });
});

test("a deleted team's grants end with the next request", async () => {
  const { owner, readable } = fixture();
  const { api, team } = await newMember();
  await owner.api.post("/team-projects", projectAccess(team.id, readable.id));
  expect((await api.get(`/projects/${readable.id}`)).status).toBe(200);
  expect((await owner.api.delete(`/teams/${team.id}`)).status).toBe(204);
  expect((await api.get(`/projects/${readable.id}`)).status).toBe(404);
});

test("teams keep and show a description, which null removes", async () => {
  const { owner } = fixture();
  const team = await newTeam({ description: "Networks" });
  expect(team.attributes.description).toBe("Networks");
  const path = `/teams/${team.id}`;
  const change = (attributes: Record<string, unknown>) =>
    owner.api.patch(path, document("teams", attributes));
  const shown = async () => (await owner.api.get(path)).body.data.attributes.description;
  await change({ visibility: "organization" });
  expect(await shown()).toBe("Networks");
  await change({ description: "Networks and DNS" });
  expect(await shown()).toBe("Networks and DNS");
  const long = await change({ description: "d".repeat(1001) });
  expect(problems(long)).toEqual({
    "/data/attributes/description": "Description is too long (maximum is 1000 characters)",
  });
  await change({ description: null });
  expect(await shown()).toBeNull();
  expect((await newTeam()).attributes.description).toBeNull();
  expect(team.relationships["authentication-tokens"].links.related).toBe(
    `/api/v2${path}/authentication-tokens`,
  );
});
