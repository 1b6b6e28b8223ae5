import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document, download } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { inlineState, stateFile, writeState } from "../stack/state.ts";
import { workspaceAccess } from "../stack/team-access.ts";
import { newTeam, newUser, newWorkspace, problems, recordedApi, useFixture } from "./fixture.ts";

const fixture = useFixture();
const token = (attributes: Record<string, unknown> = {}) =>
  document("authentication-tokens", attributes);

const asToken = (answer: { body: { data: { attributes: { token: string } } } }) =>
  recordedApi(fixture().url, answer.body.data.attributes.token);

describe("a team's default token", () => {
  test("authenticates the team, exists once, and is replaced by the next", async () => {
    proves("Credentials/team token", "Authentication/4 creating a workspace");
    const { owner, organization } = fixture();
    const team = await newTeam(fixture(), ["manage-workspaces"]);
    const path = `/teams/${team.id}/authentication-token`;
    expect((await owner.api.get(path)).status).toBe(404);
    expect((await owner.api.delete(path)).status).toBe(404);
    const first = await owner.api.post(path);
    expect(first.status).toBe(201);
    expect(first.body.data).toMatchObject({
      attributes: { description: null, token: expect.stringMatching(/^sth_/) },
      relationships: {
        team: { data: { type: "teams", id: team.id } },
        "created-by": { data: { type: "users", id: owner.id } },
      },
    });
    const api = asToken(first);
    const workspace = await newWorkspace({ organization, owner: { ...owner, api } });
    const locked = await api.post(`/workspaces/${workspace.id}/actions/lock`);
    expect(locked.body.data.relationships["locked-by"].data).toEqual({
      type: "teams",
      id: team.id,
    });
    const second = await owner.api.post(path, token({ "expired-at": "2031-01-01T00:00:00.000Z" }));
    expect((await api.get("/organizations")).status).toBe(401);
    expect((await asToken(second).get(`/workspaces/${workspace.id}`)).status).toBe(200);
    const shown = await owner.api.get(path);
    expect(shown.body.data).toMatchObject({
      id: second.body.data.id,
      attributes: { token: null, "expired-at": "2031-01-01T00:00:00.000Z" },
    });
    expect(
      (await owner.api.post(path, token({ "expired-at": "2001-01-01T00:00:00Z" }))).status,
    ).toBe(422);
    expect((await owner.api.delete(path)).status).toBe(204);
    expect((await asToken(second).get("/organizations")).status).toBe(401);
  });
});

test.each([
  ["team", async () => `/teams/${(await newTeam(fixture())).id}`],
  ["organization", async () => `/organizations/${await newOrganization(fixture().owner.api)}`],
])(
  "the default token of a %s keeps its description, and remains the only one",
  async (_, newOwner) => {
    const { owner } = fixture();
    const path = `${await newOwner()}/authentication-token`;
    const first = await owner.api.post(path, token({ description: "deployment" }));
    expect(first.body.data.attributes.description).toBe("deployment");
    expect((await owner.api.get(path)).body.data).toMatchObject({
      id: first.body.data.id,
      attributes: { description: "deployment" },
    });
    const same = await owner.api.post(path, token({ description: "deployment" }));
    expect(same.status).toBe(201);
    expect((await asToken(first).get("/organizations")).status).toBe(401);
    await owner.api.post(path);
    expect((await owner.api.get(path)).body.data.attributes.description).toBeNull();
    const wrong = await owner.api.post(path, token({ description: "x".repeat(1001) }));
    expect(Object.keys(problems(wrong))).toEqual(["/data/attributes/description"]);
  },
);

describe("described tokens", () => {
  test("can be many, each with its own description", async () => {
    proves(
      "Credentials/team token",
      "Teams and users/tokens: a description is",
      "Versioning/2024-08-14",
    );
    const { owner, organization } = fixture();
    const team = await newTeam(fixture());
    const path = `/teams/${team.id}/authentication-tokens`;
    const made = await owner.api.post(path, token({ description: "ci" }));
    expect(made.status).toBe(201);
    expect(made.body.data.attributes.description).toBe("ci");
    await owner.api.post(path, token({ description: "cd" }));
    const again = await owner.api.post(path, token({ description: "ci" }));
    expect(again.status).toBe(422);
    expect(again.body.errors[0]).toMatchObject({
      title: "invalid attributes",
      detail: "Validation failed: Description has already been taken",
    });
    const listed = await owner.api.get(`/organizations/${organization}/team-tokens?page[size]=100`);
    expect(listed.status).toBe(200);
    const ours = listed.body.data.filter(
      (one: { relationships: { team: { data: { id: string } } } }) =>
        one.relationships.team.data.id === team.id,
    );
    expect(
      ours.map((one: { attributes: { description: string } }) => one.attributes.description),
    ).toEqual(["ci", "cd"]);
    const one = `/authentication-tokens/${made.body.data.id}`;
    expect((await owner.api.get(one)).status).toBe(200);
    expect((await asToken(made).get("/organizations")).status).toBe(200);
    expect((await owner.api.delete(one)).status).toBe(204);
    expect((await asToken(made).get("/organizations")).status).toBe(401);
    expect(
      (await owner.api.get(`/organizations/${organization}/team-tokens?page[size]=0`)).status,
    ).toBe(400);
  });

  test("members manage their team's tokens unless the team forbids it; others never do", async () => {
    proves("Teams and users/tokens: allow-member-token-management", "Versioning/2024-07-15");
    const { owner, organization, reader } = fixture();
    const team = await newTeam(fixture());
    const path = `/teams/${team.id}/authentication-tokens`;
    expect((await team.member.api.post(path, token({ description: "mine" }))).status).toBe(201);
    const list = `/organizations/${organization}/team-tokens`;
    expect((await team.member.api.get(list)).body.data).toHaveLength(1);
    expect((await reader.api.get(list)).body.data).toEqual([]);
    expect((await reader.api.post(path, token({ description: "not mine" }))).status).toBe(404);
    expect((await reader.api.post(`/teams/${team.id}/authentication-token`)).status).toBe(404);
    expect((await fixture().outsider.api.get(list)).status).toBe(404);
    await owner.api.patch(
      `/teams/${team.id}`,
      document("teams", { "allow-member-token-management": false }),
    );
    expect((await team.member.api.post(path, token({ description: "more" }))).status).toBe(404);
    expect((await team.member.api.get(list)).body.data).toEqual([]);
  });
});

describe("the organization token", () => {
  test("exists once in each slot, acts as an owner, and cannot lock or write state", async () => {
    proves(
      "Credentials/organization token",
      "Authentication/4 creating a workspace",
      "Authentication/7 create state version, rollback",
      "Versioning/2024-05-29",
      "Versioning/2023-11-17",
    );
    const { owner, organization, reader } = fixture();
    const path = `/organizations/${organization}/authentication-token`;
    expect((await owner.api.get(path)).status).toBe(404);
    expect((await owner.api.delete(path)).status).toBe(404);
    expect((await reader.api.post(path)).status).toBe(404);
    const first = await owner.api.post(path);
    expect(first.status).toBe(201);
    const made = await owner.api.post(path, token({ "expired-at": "2031-01-01T00:00:00.000Z" }));
    expect((await asToken(first).get("/organizations")).status).toBe(401);
    expect((await owner.api.get(path)).body.data.id).toBe(made.body.data.id);
    const api = asToken(made);
    const workspace = await newWorkspace({ organization, owner: { ...owner, api } });
    const { id } = workspace;
    expect((await api.post(`/workspaces/${id}/actions/lock`)).status).toBe(404);
    const created = await api.post(`/workspaces/${id}/state-versions`, inlineState(stateFile()));
    expect(created.status).toBe(404);
    const team = await newTeam(fixture());
    const grant = workspaceAccess(team.id, id);
    expect((await api.post("/team-workspaces", grant)).status).toBe(200);
    const written = await writeState(owner.api, id, stateFile());
    const url = written.body.data.attributes["hosted-state-download-url"];
    expect((await download(url, made.body.data.attributes.token)).status).toBe(200);
    expect((await api.get("/account/details")).body.data).toMatchObject({
      attributes: { username: `api-org-${organization}`, "is-service-account": true },
      relationships: {
        "authenticated-resource": { data: { type: "organizations", id: organization } },
      },
    });

    const trails = await owner.api.post(`${path}?token=audit-trails`);
    expect(trails.status).toBe(201);
    expect((await asToken(trails).get(`/organizations/${organization}`)).status).toBe(404);
    expect((await asToken(trails).get("/organizations")).body.data).toEqual([]);
    expect((await asToken(trails).get("/account/details")).status).toBe(404);
    expect((await api.get(`/organizations/${organization}`)).status).toBe(200);
    for (const method of ["GET", "POST", "DELETE"]) {
      expect((await owner.api.send(method, `${path}?token=others`)).status).toBe(400);
    }
    expect(
      (await owner.api.post(path, token({ "expired-at": "1999-01-01T00:00:00Z" }))).status,
    ).toBe(422);
    expect((await owner.api.delete(`${path}?token=audit-trails`)).status).toBe(204);
    expect((await asToken(trails).get("/organizations")).status).toBe(401);
    expect((await owner.api.delete(path)).status).toBe(204);
    expect((await api.get("/organizations")).status).toBe(401);
  });
});

test("user tokens are 401 in an organization that does not accept them, and only there", async () => {
  proves("Credentials/user-tokens-enabled false");
  const { stack } = fixture();
  const boss = await newUser(stack);
  const name = unusedName("tokenless");
  const other = unusedName("other");
  for (const one of [name, other]) {
    const body = document("organizations", { name: one, email: "a@b.example" });
    expect((await boss.api.post("/organizations", body)).status).toBe(201);
  }
  const made = await boss.api.post(`/organizations/${name}/authentication-token`);
  const api = asToken(made);
  const workspace = await newWorkspace({ organization: name, owner: boss });
  const path = `/organizations/${name}`;
  const pool = await boss.api.post(`${path}/agent-pools`, document("agent-pools", { name: "a" }));
  const sshKey = await boss.api.post(
    `${path}/ssh-keys`,
    document("ssh-keys", { name: "a", value: "a key" }),
  );
  const members = await boss.api.get(`${path}/organization-memberships`);
  const set = (on: boolean) =>
    api.patch(path, document("organizations", { "user-tokens-enabled": on }));
  expect((await set(false)).status).toBe(200);
  for (const refused of [
    path,
    `${path}/workspaces`,
    `${path}/projects`,
    `${path}/teams`,
    `/workspaces/${workspace.id}`,
    `${path}/workspaces/${workspace.attributes.name}`,
    `/workspaces/${workspace.id}/current-state-version-outputs`,
    `/agent-pools/${pool.body.data.id}`,
    `/ssh-keys/${sshKey.body.data.id}`,
    `/organization-memberships/${members.body.data[0].id}`,
  ]) {
    expect((await boss.api.get(refused)).status, refused).toBe(401);
    expect((await api.get(refused)).status, refused).toBe(200);
  }
  const own = `/organization-memberships/${members.body.data[0].id}`;
  expect((await boss.api.delete(own)).status).toBe(401);
  expect((await boss.api.post(`${own}/actions/accept`)).status).toBe(401);
  // An invited user can still accept the invitation with a user token, because no other caller can accept it.
  const guest = await newUser(stack);
  const invited = await api.post(
    `${path}/organization-memberships`,
    document("organization-memberships", { email: `${guest.username}@example.com` }),
  );
  const invitation = `/organization-memberships/${invited.body.data.id}`;
  expect((await guest.api.get(invitation)).status).toBe(200);
  expect((await guest.api.post(`${invitation}/actions/accept`)).status).toBe(200);
  expect((await guest.api.get(invitation)).status).toBe(401);
  expect((await boss.api.get(`/organizations/${other}`)).status).toBe(200);
  const listed = await boss.api.get("/organizations");
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([other]);
  expect((await set(true)).status).toBe(200);
  expect((await boss.api.get(path)).status).toBe(200);
});

test("a token of the owners team acts as an owner", async () => {
  const { owner, organization } = fixture();
  const found = await owner.api.get(`/organizations/${organization}/teams?filter[names]=owners`);
  const made = await owner.api.post(`/teams/${found.body.data[0].id}/authentication-token`);
  const api = asToken(made);
  const name = unusedName("by-token");
  const teams = `/organizations/${organization}/teams`;
  expect((await api.patch("/account/update", document("users", {}))).status).toBe(404);
  const account = await api.get("/account/details");
  expect(account.body.data).toMatchObject({
    type: "users",
    attributes: { username: "api-team-owners", "is-service-account": true },
    relationships: { "authenticated-resource": { data: found.body.data[0] && { type: "teams" } } },
  });
  expect((await api.post(teams, document("teams", { name }))).status).toBe(201);
  expect(
    (await api.post("/organizations", document("organizations", { name, email: "a@b.c" }))).status,
  ).toBe(404);
});

describe("the tokens of an organization's teams", () => {
  /** Creates teams with one token each in a new organization. */
  async function newTokens(expiries: readonly string[]) {
    const { owner } = fixture();
    const organization = await newOrganization(owner.api);
    const ids: string[] = [];
    for (const [index, expiredAt] of expiries.entries()) {
      const team = await owner.api.post(
        `/organizations/${organization}/teams`,
        document("teams", { name: `team-${index}-${index % 2 === 0 ? "even" : "odd"}` }),
      );
      const made = await owner.api.post(
        `/teams/${team.body.data.id}/authentication-token`,
        token({ "expired-at": expiredAt }),
      );
      ids.push(made.body.data.id);
    }
    const path = `/organizations/${organization}/team-tokens`;
    const list = async (query: string) => {
      const { status, body } = await owner.api.get(`${path}?${query}`);
      expect(status).toBe(200);
      return body.data.map(({ id }: { id: string }) => ids.indexOf(id));
    };
    return { ids, path, list };
  }
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

  test("are searched by team name and sorted by team-name, created-by, expired-at and last-used-at, nulls last", async () => {
    const { owner, stack } = fixture();
    const { ids, path, list } = await newTokens([inDays(20), inDays(10), inDays(30)]);
    expect(await list("q=EVEN")).toEqual([0, 2]);
    expect(await list("sort=team-name")).toEqual([0, 1, 2]);
    expect(await list("sort=-team-name")).toEqual([2, 1, 0]);
    expect(await list("sort=expired-at")).toEqual([1, 0, 2]);
    expect(await list("sort=-expired-at")).toEqual([2, 0, 1]);
    expect(await list("sort=-expired-at&page[size]=2&page[number]=2")).toEqual([1]);
    expect((await owner.api.get(`${path}?sort=unknown`)).status).toBe(400);
    const use = (index: number, at: string | null) =>
      stack.rows("access", "update tokens set last_used_at = $2 where id = $1", [ids[index], at]);
    await use(0, "2026-02-01T00:00:00Z");
    await use(1, null);
    await use(2, "2026-01-01T00:00:00Z");
    expect(await list("sort=last-used-at")).toEqual([2, 0, 1]);
    expect(await list("sort=-last-used-at")).toEqual([0, 2, 1]);
    await stack.rows("access", "update tokens set created_by_id = null where id = $1", [ids[0]]);
    await stack.rows("access", "update tokens set created_by_id = $2 where id = $1", [
      ids[1],
      `${owner.id}z`,
    ]);
    expect(await list("sort=created-by")).toEqual([2, 1, 0]);
    expect(await list("sort=-created-by")).toEqual([1, 2, 0]);
  });

  test("are found by filter[expiry_status]", async () => {
    const { owner, stack } = fixture();
    const { ids, path, list } = await newTokens([inDays(3), inDays(20), inDays(200), inDays(5)]);
    const past = "update tokens set expired_at = now() - interval '1 day' where id = $1";
    await stack.rows("access", past, [ids[3]]);
    expect(await list("filter[expiry_status]=active")).toEqual([0, 1, 2]);
    expect(await list("filter[expiry_status]=expiring_in_7_days")).toEqual([0]);
    expect(await list("filter[expiry_status]=expiring_in_30_days")).toEqual([0, 1]);
    expect(await list("filter[expiry_status]=expired")).toEqual([3]);
    expect(await list("filter[expiry_status]=expired,expiring_in_7_days")).toEqual([0, 3]);
    expect(await list("filter[expiry_status]=no_expiration")).toEqual([]);
    for (const status of ["unknown", "active,unknown"]) {
      const refused = await owner.api.get(`${path}?filter[expiry_status]=${status}`);
      expect(refused.status).toBe(400);
      expect(refused.body.errors[0]).toMatchObject({
        code: "filter",
        detail:
          "filter[expiry_status] must be one of active, expiring_in_7_days, expiring_in_30_days, expired, no_expiration.",
      });
    }
  });

  test("DELETE revokes the given tokens, all of them or none", async () => {
    const { owner, reader } = fixture();
    const { ids, path, list } = await newTokens([inDays(20), inDays(20), inDays(20)]);
    const linkages = (...of: unknown[]) => ({
      data: of.map((id) => ({ type: "authentication-tokens", id })),
    });
    const foreign = await newTokens([inDays(20)]);
    const mixed = await owner.api.delete(path, linkages(ids[0], foreign.ids[0]));
    expect(mixed.status).toBe(404);
    expect((await reader.api.delete(path, linkages(ids[0]))).status).toBe(404);
    expect((await owner.api.delete(path, { data: [{ type: "teams", id: ids[0] }] })).status).toBe(
      422,
    );
    expect(await list("")).toEqual([0, 1, 2]);
    expect((await owner.api.delete(path, linkages(ids[0], ids[2]))).status).toBe(204);
    expect(await list("")).toEqual([1]);
  });
});
