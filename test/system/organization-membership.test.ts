import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { organizationId, unusedName } from "../stack/organization.ts";
import { mailSender, published } from "../stack/published.ts";
import { newUser, problems, recordedApi, useFixture } from "./fixture.ts";

const fixture = useFixture();
const path = () => `/organizations/${fixture().organization}/organization-memberships`;
const invitation = (email: string) => document("organization-memberships", { email });

test("an invited user becomes a member on acceptance and can be removed", async () => {
  proves("Teams and users/organization memberships: invited by");
  const { owner, stack, organization } = fixture();
  const guest = await newUser(stack);
  const email = `${guest.username}@example.com`;
  const invited = await owner.api.post(`${path()}?include=user`, invitation(email));
  expect(invited.status).toBe(201);
  const { id, attributes, relationships } = invited.body.data;
  expect(id).toMatch(/^ou-[A-Za-z0-9]{16}$/);
  expect(attributes).toMatchObject({ status: "invited", email });
  expect(relationships).toMatchObject({
    user: { data: { type: "users", id: guest.id } },
    organization: { data: { id: organization } },
    teams: { data: [] },
  });
  expect(invited.body.included).toMatchObject([{ type: "users", id: guest.id }]);
  const one = `/organization-memberships/${id}`;
  expect((await guest.api.get(`/organizations/${organization}`)).status).toBe(404);
  expect((await guest.api.get(one)).status).toBe(200);
  expect((await owner.api.post(`${one}/actions/accept`)).status).toBe(404);
  const wrong = { data: { attributes: { secret: 3 } } };
  expect((await guest.api.post(`${one}/actions/accept`, wrong)).status).toBe(422);
  const accepted = await guest.api.post(`${one}/actions/accept`);
  expect(accepted.status).toBe(200);
  expect(accepted.body.data.attributes.status).toBe("active");
  expect((await guest.api.post(`${one}/actions/accept`)).status).toBe(200);
  expect((await guest.api.get(`/organizations/${organization}`)).status).toBe(200);

  expect((await owner.api.delete(one)).status).toBe(204);
  expect((await guest.api.get(`/organizations/${organization}`)).status).toBe(404);
  expect((await guest.api.get(one)).status).toBe(404);
  expect((await owner.api.delete(one)).status).toBe(404);
});

test("the included user of an invitation has its address and no username until acceptance, and POST includes the user", async () => {
  proves("Teams and users/organization memberships: invited by");
  const { owner, reader, stack } = fixture();
  const guest = await newUser(stack);
  const email = `${guest.username}@example.com`;
  const invited = await owner.api.post(path(), invitation(email));
  const one = `/organization-memberships/${invited.body.data.id}`;
  const read = await owner.api.get(`${one}?include=user`);
  expect(invited.body).toEqual(read.body);
  expect(read.body.included).toMatchObject([{ id: guest.id, attributes: { email, username: "" } }]);
  const found = await owner.api.get(`${path()}?filter[email]=${email}&include=user`);
  expect(found.body.included).toEqual(read.body.included);
  // To members who are not allowed to read addresses, the document shows neither the address nor the username.
  const seen = await reader.api.get(`${one}?include=user`);
  expect(seen.body.included).toMatchObject([{ attributes: { email: null, username: "" } }]);

  await guest.api.post(`${one}/actions/accept`);
  const accepted = { email, username: guest.username };
  const after = await owner.api.get(`${one}?include=user`);
  expect(after.body.included).toMatchObject([{ attributes: accepted }]);
  const shown = await reader.api.get(`${one}?include=user`);
  expect(shown.body.included).toMatchObject([{ attributes: { ...accepted, email: null } }]);
});

test("the response of accepting an invitation is the same as its later reading", async () => {
  const { owner, stack, organization } = fixture();
  const guest = await newUser(stack);
  const { body } = await owner.api.post(path(), invitation(`${guest.username}@example.com`));
  const one = `/organization-memberships/${body.data.id}`;
  const accepted = await guest.api.post(`${one}/actions/accept`);
  expect(accepted.body.data.relationships.organization.data.id).toBe(organization);
  expect(accepted.body).toEqual((await guest.api.get(one)).body);
});

test("an invitation publishes an event with the data for a mail, and nothing else notifies the user", async () => {
  proves("Teams and users/organization memberships: invited by");
  const { owner, stack, organization } = fixture();
  await using bus = published(stack.nats);
  const guest = await newUser(stack);
  const email = `${guest.username}@example.com`;
  const { body } = await owner.api.post(path(), invitation(email));
  await using mail = mailSender(stack.nats);
  const invited = await waitFor(async () =>
    mail.messages.find((message) => message.email === email),
  );
  const inside = await organizationId(stack, organization);
  expect(invited).toMatchObject({
    organizationMembershipId: body.data.id,
    organizationId: inside,
    userId: guest.id,
    secret: expect.stringMatching(/^[\w-]{20,}$/),
  });
  const [event] = await waitFor(() => {
    const found = bus.about("userId", guest.id, "membership.invited.v1");
    return found.length > 0 && found;
  });
  expect(JSON.parse(event?.json ?? "")).toEqual({
    ...{ organizationMembershipId: body.data.id, organizationId: inside, userId: guest.id },
    revision: expect.any(String),
  });
  for (const found of ["/organizations", `/users/${guest.id}/authentication-tokens`]) {
    expect(JSON.stringify((await guest.api.get(found)).body)).not.toContain(body.data.id);
  }
  expect((await guest.api.get(path())).status).toBe(404);
});

test("an unknown address can be invited and becomes a user when an administrator adds it", async () => {
  proves("Teams and users/organization memberships: invited by");
  const { owner, stack, organization } = fixture();
  const administrator = await newUser(stack, { administrator: true });
  const username = unusedName("new");
  const email = `${username}@example.com`;
  const invited = await owner.api.post(path(), invitation(email));
  expect(invited.status).toBe(201);
  const userId = invited.body.data.relationships.user.data.id;
  const added = await administrator.api.post(
    "/admin/users",
    document("users", { username, email: email.toUpperCase() }),
  );
  expect(added.status).toBe(201);
  expect(added.body.data.id).toBe(userId);
  const found = await owner.api.get(`${path()}?filter[email]=${email}&include=user`);
  expect(found.body.data).toHaveLength(1);
  expect(found.body.included).toMatchObject([{ type: "users", id: userId }]);
  expect((await owner.api.get(`/organizations/${organization}`)).status).toBe(200);
});

test("a user cannot take an invited address by changing its own", async () => {
  const { owner, stack } = fixture();
  const email = `${unusedName("victim")}@example.com`;
  const invited = await owner.api.post(path(), invitation(email));
  const thief = await newUser(stack);
  const taken = await thief.api.patch("/account/update", document("users", { email }));
  expect(taken.status).toBe(200);
  expect(taken.body.data.attributes).toMatchObject({
    email: `${thief.username}@example.com`,
    "unconfirmed-email": email,
  });
  const one = `/organization-memberships/${invited.body.data.id}`;
  expect((await thief.api.post(`${one}/actions/accept`)).status).toBe(404);
  expect((await thief.api.get(one)).status).toBe(404);
});

test("an invitation does not reveal whether its address belongs to a user until it is accepted", async () => {
  proves("Isolation/invitations");
  const { owner, stack, organization } = fixture();
  const known = await newUser(stack);
  const unknown = unusedName("user");
  const team = await owner.api.post(
    `/organizations/${organization}/teams`,
    document("teams", { name: unusedName("team") }),
  );
  const members = `/teams/${team.body.data.id}/relationships/users`;
  const learned = async (username: string) => {
    const email = `${username}@example.com`;
    const { body } = await owner.api.post(`${path()}?include=user`, invitation(email));
    const userId = body.data.relationships.user.data.id;
    const answers = [
      body,
      (await owner.api.get(`/users/${userId}`)).body,
      (await owner.api.get(`${path()}?q=${username.slice(0, -2)}&include=user`)).body,
      (await owner.api.get(`${path()}?filter[email]=${email}&include=user`)).body,
      (await owner.api.post(members, { data: [{ type: "users", id: username }] })).body,
      (await owner.api.post(members, { data: [{ type: "users", id: userId }] })).status,
      (await owner.api.get(`/teams/${team.body.data.id}?include=users`)).body,
    ];
    await owner.api.delete(`/organization-memberships/${body.data.id}`);
    return JSON.stringify(answers)
      .replaceAll(encodeURIComponent(email), "<email>")
      .replaceAll(email, "<email>")
      .replaceAll(username.slice(0, -2), "<part of the name>")
      .replaceAll(/\b(ou|user)-[A-Za-z0-9]{16}\b/g, "<id>")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
  };
  expect(await learned(known.username)).toBe(await learned(unknown));
  const { body } = await owner.api.post(path(), invitation(`${known.username}@example.com`));
  await known.api.post(`/organization-memberships/${body.data.id}/actions/accept`);
  const shown = await owner.api.get(`/users/${known.id}`);
  expect(shown.body.data.attributes.username).toBe(known.username);
});

test("an invitation is refused for an invalid address and for an invited user", async () => {
  const { owner } = fixture();
  const field = "/data/attributes/email";
  expect(problems(await owner.api.post(path(), invitation("nobody")))).toEqual({
    [field]: "Email is invalid",
  });
  const email = `${unusedName("twice")}@example.com`;
  await owner.api.post(path(), invitation(email));
  const again = await owner.api.post(path(), invitation(email));
  expect(again.status).toBe(422);
  expect(problems(again)).toEqual({ [field]: "Email has already been taken" });
  expect((await owner.api.post(`${path()}?include=x`, invitation(email))).status).toBe(400);
});

test("members can be listed, searched and counted; addresses are shown to callers who manage them", async () => {
  proves("Teams and users/organization memberships: list with");
  const { owner, reader } = fixture();
  const listed = await owner.api.get(`${path()}?page[size]=1`);
  expect(listed.status).toBe(200);
  expect(listed.body.data).toHaveLength(1);
  expect(listed.body.meta.pagination["total-count"]).toBeGreaterThan(1);
  const email = `${reader.username}@example.com`;
  const found = await owner.api.get(`${path()}?q=${reader.username}&include=user,teams`);
  expect(found.body.data).toMatchObject([{ attributes: { status: "active", email } }]);
  expect(found.body.included.map(({ type }: { type: string }) => type).toSorted()).toEqual([
    "teams",
    "users",
  ]);
  const id = found.body.data[0].id;
  const invited = await owner.api.get(`${path()}?filter[status]=invited`);
  expect(invited.body.data.map((one: { id: string }) => one.id)).not.toContain(id);
  const others = await reader.api.get(`${path()}?q=${owner.username}`);
  expect(others.body.data).toMatchObject([{ attributes: { email: null } }]);
  expect(
    (await reader.api.get(`${path()}?filter[email]=${owner.username}@example.com`)).body.data,
  ).toEqual([]);
  expect((await owner.api.get(`${path()}?page[size]=x`)).status).toBe(400);
  expect((await owner.api.get(`/organization-memberships/${id}?include=x`)).status).toBe(400);
});

test("members without the right cannot invite or remove others, but can leave", async () => {
  const { owner, reader, stack, organization } = fixture();
  expect((await reader.api.post(path(), invitation("a@b.example"))).status).toBe(404);
  const guest = await newUser(stack);
  const invited = await owner.api.post(path(), invitation(`${guest.username}@example.com`));
  const one = `/organization-memberships/${invited.body.data.id}`;
  expect((await reader.api.delete(one)).status).toBe(404);
  await guest.api.post(`${one}/actions/accept`);
  expect((await guest.api.delete(one)).status).toBe(204);
  expect((await guest.api.get(`/organizations/${organization}`)).status).toBe(404);
  expect((await fixture().outsider.api.get(path())).status).toBe(404);
});

test("the last owner cannot leave", async () => {
  proves("Teams and users/the owners team");
  const { owner } = fixture();
  const found = await owner.api.get(`${path()}?q=${owner.username}`);
  const left = await owner.api.delete(`/organization-memberships/${found.body.data[0].id}`);
  expect(left.status).toBe(409);
});

test("GET organization-memberships lists the caller's own accepted memberships", async () => {
  const { owner, stack, organization, outsider } = fixture();
  const guest = await newUser(stack);
  const email = `${guest.username}@example.com`;
  const { body } = await owner.api.post(path(), invitation(email));
  const one = `/organization-memberships/${body.data.id}`;
  const mine = () => guest.api.get("/organization-memberships");
  expect((await mine()).body).toMatchObject({
    data: [],
    meta: { pagination: { "total-count": 0 } },
  });
  await guest.api.post(`${one}/actions/accept`);
  const own = await mine();
  expect(own.body.data).toEqual([(await guest.api.get(one)).body.data]);
  expect(own.body.data[0].relationships.organization.data.id).toBe(organization);
  const theirs = `/organizations/${outsider.organization}/organization-memberships`;
  await outsider.api.post(theirs, invitation(email));
  expect((await mine()).body.data).toHaveLength(1);
  expect((await guest.api.get("/organization-memberships?page[size]=0")).status).toBe(400);
  const made = await owner.api.post(`/organizations/${organization}/authentication-token`);
  const withoutUser = recordedApi(stack.url, made.body.data.attributes.token);
  expect((await withoutUser.get("/organization-memberships")).status).toBe(404);
});

test("the memberships of a team are listed, by status, for those who see the team", async () => {
  const { owner, stack, organization, outsider } = fixture();
  const team = await owner.api.post(
    `/organizations/${organization}/teams`,
    document("teams", { name: unusedName("team") }),
  );
  const teams = { teams: { data: [{ type: "teams", id: team.body.data.id }] } };
  const people = [await newUser(stack), await newUser(stack)];
  const ids: string[] = [];
  for (const { username } of people) {
    const attributes = { email: `${username}@example.com` };
    const body = document("organization-memberships", attributes, teams);
    ids.push((await owner.api.post(path(), body)).body.data.id);
  }
  await people[0]?.api.post(`/organization-memberships/${ids[0]}/actions/accept`);
  const list = `/teams/${team.body.data.id}/relationships/organization-memberships`;
  const found = async (query: string) => {
    const { body } = await owner.api.get(`${list}?${query}`);
    return body.data.map(({ id }: { id: string }) => id);
  };
  expect(await found("")).toEqual(ids);
  expect(await found("filter[status]=active")).toEqual([ids[0]]);
  expect(await found("filter[status]=invited")).toEqual([ids[1]]);
  expect(await found("sort=status")).toEqual(ids);
  expect(await found("sort=-status")).toEqual(ids.toReversed());
  expect(await found("sort=status&page[size]=1&page[number]=2")).toEqual([ids[1]]);
  const { body } = await owner.api.get(`${list}?include=user&filter[status]=active`);
  expect(body.data[0]).toEqual(
    (await owner.api.get(`/organization-memberships/${ids[0]}`)).body.data,
  );
  expect(body.included).toMatchObject([{ type: "users", id: people[0]?.id }]);
  expect((await owner.api.get(`${list}?include=x`)).status).toBe(400);
  expect((await owner.api.get(`${list}?sort=email`)).status).toBe(400);
  const last = await owner.api.get(`${list}?page[size]=1&page[number]=2`);
  expect(last.body.meta.pagination).toMatchObject({ "total-count": 2, "total-pages": 2 });
  expect((await outsider.api.get(list)).status).toBe(404);
});
