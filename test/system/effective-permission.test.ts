import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { workspaceAccess } from "../stack/team-access.ts";
import {
  type ApiUser,
  errorDetails,
  newTeam,
  newUser,
  newWorkspace,
  recordedApi,
  useFixture,
} from "./fixture.ts";

const fixture = useFixture();

const explain = (workspaceId: string, query: string, by: ApiUser = fixture().owner) =>
  by.api.get(`/workspaces/${workspaceId}/effective-permissions?${query}`);

test("those who manage access read what a user or team may do, and which grants allow it", async () => {
  const { owner, stack } = fixture();
  const { id: workspaceId, relationships } = await newWorkspace(fixture());
  const projectId = relationships.project.data.id;
  const writers = await newTeam(fixture());
  await owner.api.post(
    "/team-workspaces",
    workspaceAccess(writers.id, workspaceId, { access: "write" }),
  );
  const maintainers = await newTeam(fixture(), ["read-workspaces"]);
  await stack.people.grant({ teamId: maintainers.id, projectId, access: "maintain" });
  await owner.api.post(`/teams/${maintainers.id}/relationships/users`, {
    data: [{ type: "users", id: writers.member.username }],
  });
  const source = (
    { id }: { id: string },
    on: Record<"target-type" | "target-id" | "access", unknown>,
  ) => expect.objectContaining({ "team-id": id, "team-name": expect.any(String), ...on });
  const onWorkspace = { "target-type": "workspace", "target-id": workspaceId, access: "write" };
  const onProject = { "target-type": "project", "target-id": projectId, access: "maintain" };

  const { status, body } = await explain(workspaceId, `filter[user]=${writers.member.id}`);
  expect(status).toBe(200);
  expect(body.data).toMatchObject({
    id: `${workspaceId}:${writers.member.id}`,
    type: "effective-permissions",
    relationships: {
      workspace: { data: { type: "workspaces", id: workspaceId } },
      principal: { data: { type: "users", id: writers.member.id } },
    },
  });
  const { permissions, "granted-by": grantedBy } = body.data.attributes;
  expect(grantedBy["can-lock"]).toHaveLength(2);
  expect(grantedBy["can-lock"]).toEqual(
    expect.arrayContaining([source(writers, onWorkspace), source(maintainers, onProject)]),
  );
  expect(grantedBy["can-update"]).toEqual([source(maintainers, onProject)]);
  expect(grantedBy["can-read-run"]).toContainEqual(
    source(maintainers, {
      "target-type": "organization",
      "target-id": expect.stringMatching(/^org-/),
      access: "read-workspaces",
    }),
  );
  expect(grantedBy["can-force-delete"]).toEqual([]);
  // These are the same permissions as in the workspace's document when the user reads it.
  const shown = await writers.member.api.get(`/workspaces/${workspaceId}`);
  expect(permissions).toEqual(shown.body.data.attributes.permissions);

  const ofTeam = await explain(workspaceId, `filter[team]=${writers.id}`);
  expect(ofTeam.body.data.attributes["granted-by"]["can-lock"]).toEqual([
    source(writers, onWorkspace),
  ]);
  const ofOwner = await explain(workspaceId, `filter[user]=${owner.id}`);
  expect(ofOwner.body.data.attributes["granted-by"]["can-force-delete"]).toEqual([
    expect.objectContaining({ "target-type": "organization", access: "owners" }),
  ]);
});

test("all other callers get 404, and so do managers for a principal of another organization", async () => {
  const { owner, outsider } = fixture();
  const { id: workspaceId } = await newWorkspace(fixture());
  const team = await newTeam(fixture());
  await owner.api.post(
    "/team-workspaces",
    workspaceAccess(team.id, workspaceId, { access: "write" }),
  );
  const own = `filter[user]=${team.member.id}`;
  expect((await explain(workspaceId, own, team.member)).status).toBe(404);
  expect((await explain(workspaceId, own, outsider)).status).toBe(404);
  for (const foreign of [`filter[user]=${outsider.id}`, "filter[user]=user-x", "filter[team]=x"]) {
    expect((await explain(workspaceId, foreign)).status).toBe(404);
  }
  expect((await explain("ws-0000000000000000", own)).status).toBe(404);
});

test("the name of a team that the reader cannot see is empty", async () => {
  const { owner } = fixture();
  const { id: workspaceId } = await newWorkspace(fixture());
  const [managers, secret] = [await newTeam(fixture()), await newTeam(fixture())];
  for (const [{ id }, access] of [
    [managers, "admin"],
    [secret, "write"],
  ] as const) {
    await owner.api.post("/team-workspaces", workspaceAccess(id, workspaceId, { access }));
  }
  const namesOf = async (reader: ApiUser, user: ApiUser): Promise<string[]> => {
    const { status, body } = await explain(workspaceId, `filter[user]=${user.id}`, reader);
    expect(status).toBe(200);
    return body.data.attributes["granted-by"]["can-lock"].map(
      (source: { "team-name": string }) => source["team-name"],
    );
  };
  expect(await namesOf(managers.member, secret.member)).toEqual([""]);
  expect(await namesOf(managers.member, managers.member)).toEqual([expect.stringMatching(/./)]);
  expect(await namesOf(owner, secret.member)).toEqual([expect.stringMatching(/./)]);
});

test("users have no permissions in an organization that refuses their tokens", async () => {
  const { stack } = fixture();
  const boss = await newUser(stack);
  const organization = await newOrganization(boss.api);
  const { id: workspaceId } = await newWorkspace({ organization, owner: boss });
  const made = await boss.api.post(`/organizations/${organization}/authentication-token`);
  const byToken = { ...boss, api: recordedApi(stack.url, made.body.data.attributes.token) };
  const query = `filter[user]=${boss.id}`;
  const lockOf = async () =>
    (await explain(workspaceId, query, byToken)).body.data.attributes.permissions["can-lock"];
  expect(await lockOf()).toBe(true);
  const refusing = document("organizations", { "user-tokens-enabled": false });
  await byToken.api.patch(`/organizations/${organization}`, refusing);
  expect(await lockOf()).toBe(false);
});

test("exactly one principal is required", async () => {
  const { id: workspaceId } = await newWorkspace(fixture());
  for (const query of ["", "filter[user]=user-1&filter[team]=team-1"]) {
    const refused = await explain(workspaceId, query);
    expect(refused.status).toBe(400);
    expect(errorDetails(refused).join()).toContain("Exactly one user or team is required.");
  }
});
