import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { newUser, newWorkspace, problems, recordedApi, useFixture } from "./fixture.ts";

const fixture = useFixture();
const administrator = () => newUser(fixture().stack, { administrator: true });

test("users who share an organization see each other, but not e-mail addresses", async () => {
  const { owner, reader, outsider } = fixture();
  const shown = await reader.api.get(`/users/${owner.id}`);
  expect(shown.status).toBe(200);
  expect(shown.body.data.attributes.username).toBe(owner.username);
  expect(JSON.stringify(shown.body)).not.toContain("@example.com");
  expect((await outsider.api.get(`/users/${owner.id}`)).status).toBe(404);
});

test("a user can change its own name and address", async () => {
  proves("Teams and users/account/details and account/update");
  const person = await newUser(fixture().stack);
  const username = unusedName("renamed");
  const changed = await person.api.patch(
    "/account/update",
    document("users", { username, email: `${username}@example.org` }),
  );
  expect(changed.status).toBe(200);
  expect(changed.body.data.attributes).toMatchObject({
    username,
    "unconfirmed-email": `${username}@example.org`,
  });
  expect((await person.api.get("/account/details")).body.data.attributes.username).toBe(username);
  const wrong = await person.api.patch(
    "/account/update",
    document("users", { username: fixture().owner.username.toUpperCase(), email: "nobody" }),
  );
  expect(wrong.status).toBe(422);
  expect(problems(wrong)).toEqual({
    "/data/attributes/username": "Username has already been taken",
    "/data/attributes/email": "Email is invalid",
  });
});

test("users have an avatar-url of this installation, which answers with a cacheable image", async () => {
  const { owner, url, organization } = fixture();
  const shown = (await owner.api.get("/account/details")).body.data.attributes["avatar-url"];
  const other = (await owner.api.get(`/users/${fixture().reader.id}`)).body.data.attributes;
  expect(shown).toMatch(`${url}/avatars/user-`);
  expect(other["avatar-url"]).not.toBe(shown);
  const image = async (address: string) => {
    const answer = await fixture().anonymous.get(address);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("image/svg+xml; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    return String(answer.body);
  };
  const svg = await image(shown);
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  expect(await image(shown)).toBe(svg);
  expect(await image(other["avatar-url"])).not.toBe(svg);
  // An image reveals nothing about its id, not even whether a user with this id exists.
  await image(`${url}/avatars/user-0000000000000000`);
  expect((await fixture().anonymous.get(`${url}/avatars/%3Cscript%3E`)).status).toBe(404);

  const token = await owner.api.post(
    `/organizations/${organization}/authentication-token`,
    document("authentication-tokens", {}),
  );
  const synthetic = recordedApi(url, token.body.data.attributes.token);
  const account = (await synthetic.get("/account/details")).body.data.attributes;
  await image(account["avatar-url"]);
});

describe("administrators", () => {
  test("can add, find, promote, suspend and unsuspend users", async () => {
    proves("Teams and users/administrators create, suspend and");
    const { api } = await administrator();
    const username = unusedName("added");
    const body = document("users", { username, email: `${username}@example.com` });
    const added = await api.post("/admin/users", body);
    expect(added.status).toBe(201);
    const { id } = added.body.data;
    expect(added.body.data.attributes).toMatchObject({ "is-admin": false, "is-suspended": false });
    expect((await api.post("/admin/users", body)).status).toBe(422);
    const act = (action: string) => api.post(`/admin/users/${id}/actions/${action}`);
    expect((await act("grant_admin")).body.data.attributes["is-admin"]).toBe(true);
    expect((await act("grant_admin")).status).toBe(200);
    const found = await api.get(
      `/admin/users?q=${username.slice(1).toUpperCase()}&filter[admin]=true`,
    );
    expect(found.body.data.map((one: { id: string }) => one.id)).toEqual([id]);
    expect((await act("revoke_admin")).body.data.attributes["is-admin"]).toBe(false);
    expect((await act("suspend")).body.data.attributes["is-suspended"]).toBe(true);
    const suspended = await api.get(`/admin/users?q=${username}&filter[suspended]=true`);
    expect(suspended.body.meta.pagination["total-count"]).toBe(1);
    expect((await act("unsuspend")).body.data.attributes["is-suspended"]).toBe(false);
    expect((await api.get("/admin/users?page[size]=0")).status).toBe(400);
    for (const action of ["suspend", "unsuspend", "grant_admin", "revoke_admin"]) {
      const unknown = `/admin/users/user-ABCDEFGHabcdefgh/actions/${action}`;
      expect((await api.post(unknown)).status).toBe(404);
    }
  });

  test("suspend a user from the next request on, and restore all rights", async () => {
    proves("Credentials/expired, revoked, of a suspended user");
    const { api } = await administrator();
    const { stack } = fixture();
    const person = await newUser(stack);
    const act = (action: string) => api.post(`/admin/users/${person.id}/actions/${action}`);
    expect((await act("suspend")).status).toBe(200);
    expect((await person.api.get("/account/details")).status).toBe(401);
    expect((await act("unsuspend")).status).toBe(200);
    expect((await person.api.get("/account/details")).status).toBe(200);
  });

  test("are the only users who can manage users; other users get 404", async () => {
    proves("Teams and users/administrators create, suspend and");
    const { owner } = fixture();
    expect((await owner.api.get("/admin/users")).status).toBe(404);
    const body = document("users", { username: "x", email: "x@example.com" });
    expect((await owner.api.post("/admin/users", body)).status).toBe(404);
    for (const action of ["suspend", "unsuspend", "grant_admin", "revoke_admin"]) {
      const path = `/admin/users/${owner.id}/actions/${action}`;
      expect((await owner.api.post(path)).status).toBe(404);
    }
  });

  test("cannot remove the last administrator", async () => {
    proves("Teams and users/administrators create, suspend and");
    const last = await administrator();
    const listed = await last.api.get("/admin/users?filter[admin]=true&page[size]=100");
    for (const { id } of listed.body.data) {
      if (id !== last.id) await last.api.post(`/admin/users/${id}/actions/revoke_admin`);
    }
    for (const action of ["suspend", "revoke_admin"]) {
      const refused = await last.api.post(`/admin/users/${last.id}/actions/${action}`);
      expect(refused.status).toBe(409);
    }
  });
});

test("an administrator deletes a user: its tokens and memberships end, and its locks stay and are stale", async () => {
  const { owner, stack, organization, url } = fixture();
  const { api } = await administrator();
  const person = await newUser(stack);
  const invited = await owner.api.post(
    `/organizations/${organization}/organization-memberships`,
    document("organization-memberships", { email: `${person.username}@example.com` }),
  );
  const membership = `/organization-memberships/${invited.body.data.id}`;
  await person.api.post(`${membership}/actions/accept`);
  const team = await owner.api.post(
    `/organizations/${organization}/teams`,
    document("teams", {
      name: unusedName("team"),
      "organization-access": { "manage-workspaces": true },
    }),
  );
  await owner.api.post(`/teams/${team.body.data.id}/relationships/users`, {
    data: [{ type: "users", id: person.username }],
  });
  const { id } = await newWorkspace(fixture());
  expect((await person.api.post(`/workspaces/${id}/actions/lock`)).status).toBe(200);
  const path = `/admin/users/${person.id}`;
  expect((await owner.api.delete(path)).status).toBe(404);
  expect((await api.delete(path)).status).toBe(204);
  expect((await api.delete(path)).status).toBe(404);
  expect((await recordedApi(url, person.token).get("/account/details")).status).toBe(401);
  expect((await owner.api.get(membership)).status).toBe(404);
  const left = await owner.api.get(`/teams/${team.body.data.id}`);
  expect(left.body.data.attributes["users-count"]).toBe(0);
  const locked = await owner.api.get(`/workspaces/${id}`);
  expect(locked.body.data.attributes).toMatchObject({ locked: true, "locked-stale": true });
  expect(locked.body.data.relationships["locked-by"].data).toEqual({
    type: "users",
    id: person.id,
  });
  expect((await owner.api.post(`/workspaces/${id}/actions/force-unlock`)).status).toBe(200);
  // The name and the address are free again.
  const again = document("users", {
    username: person.username,
    email: `${person.username}@example.com`,
  });
  expect((await api.post("/admin/users", again)).status).toBe(201);
});

test("the last owner of an organization cannot be deleted", async () => {
  const { stack } = fixture();
  const { api } = await administrator();
  const person = await newUser(stack);
  const name = await newOrganization(person.api);
  const refused = await api.delete(`/admin/users/${person.id}`);
  expect(refused.status).toBe(409);
  expect(refused.body.errors[0].code).toBe("last_owner");
  expect((await person.api.get(`/organizations/${name}`)).status).toBe(200);
});
