import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { namesOf, newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();
const path = () => `/organizations/${fixture().organization}/ssh-keys`;
const input = (attributes: Record<string, unknown>) => document("ssh-keys", attributes);
const assignment = (id: unknown) => document("workspaces", { id });
const SECRET = "-----BEGIN secret-of-this-test-----";

const create = async (name = unusedName("key")) =>
  fixture().owner.api.post(path(), input({ name, value: SECRET }));

test("a key can be created, shown, changed and deleted, and its value is never shown", async () => {
  proves("SSH keys/CRUD; the private key is never returned");
  const { api } = fixture().owner;
  const name = unusedName("key");
  const created = await create(name);
  expect(created.status).toBe(201);
  const { id } = created.body.data;
  expect(id).toMatch(/^sshkey-[A-Za-z0-9]{16}$/);
  const self = `/ssh-keys/${id}`;
  expect(created.body).toEqual({
    data: { id, type: "ssh-keys", attributes: { name }, links: { self: `/api/v2${self}` } },
  });
  const shown = await api.get(self);
  expect(shown.status).toBe(200);
  expect(shown.body).toEqual(created.body);
  const changed = await api.patch(self, input({ name: `${name}-2`, value: "other" }));
  expect(changed.status).toBe(200);
  expect(changed.body.data.attributes).toEqual({ name: `${name}-2` });
  const listed = await api.get(path());
  expect(namesOf(listed)).toContain(`${name}-2`);
  for (const { body } of [created, shown, changed, listed]) {
    expect(JSON.stringify(body)).not.toContain("secret-of-this-test");
  }
  expect((await api.delete(self)).status).toBe(204);
  expect((await api.get(self)).status).toBe(404);
  expect((await api.delete(self)).status).toBe(404);
});

test("any text is a valid key; a missing one is refused, and all problems are reported", async () => {
  proves("SSH keys/any text is accepted");
  const { api } = fixture().owner;
  const any = await api.post(path(), input({ name: "odd", value: "ünïcode\n\t✓" }));
  expect(any.status).toBe(201);
  const empty = await api.post(path(), input({}));
  expect(empty.status).toBe(422);
  expect(Object.keys(problems(empty)).toSorted()).toEqual([
    "/data/attributes/name",
    "/data/attributes/value",
  ]);
  const blank = await api.patch(`/ssh-keys/${any.body.data.id}`, input({ name: "", value: "" }));
  expect(blank.status).toBe(422);
  expect(problems(blank)).toEqual({
    "/data/attributes/name": "Name can't be blank",
    "/data/attributes/value": "Value can't be blank",
  });
});

test("the list is ordered by name and has pages", async () => {
  const { api } = fixture().owner;
  const list = `/organizations/${await newOrganization(api)}/ssh-keys`;
  for (const name of ["c", "a", "b"]) await api.post(list, input({ name, value: "x" }));
  expect(namesOf(await api.get(list))).toEqual(["a", "b", "c"]);
  const page = await api.get(`${list}?page[size]=2&page[number]=2`);
  expect(namesOf(page)).toEqual(["c"]);
  expect(page.body.meta.pagination["total-count"]).toBe(3);
  expect((await api.get(`${list}?page[size]=none`)).status).toBe(400);
});

test("a workspace has at most one key: assigned, replaced, removed by null, and removed with the key", async () => {
  proves(
    "Workspace endpoints/PATCH relationships/ssh-key",
    "SSH keys/at most one for a workspace; deletable while assigned",
  );
  const { api } = fixture().owner;
  const [first, second] = [(await create()).body.data.id, (await create()).body.data.id];
  const { id } = await newWorkspace(fixture());
  const assign = `/workspaces/${id}/relationships/ssh-key`;
  const assigned = async () =>
    (await api.get(`/workspaces/${id}`)).body.data.relationships["ssh-key"].data;
  const answer = await api.patch(assign, assignment(first));
  expect(answer.status).toBe(200);
  expect(answer.body.data).toMatchObject({
    id,
    type: "workspaces",
    relationships: { "ssh-key": { data: { type: "ssh-keys", id: first } } },
  });
  await api.patch(assign, assignment(second));
  expect(await assigned()).toEqual({ type: "ssh-keys", id: second });
  expect((await api.patch(assign, assignment(null))).status).toBe(200);
  expect(await assigned()).toBe(null);
  await api.patch(assign, assignment(first));
  expect((await api.delete(`/ssh-keys/${first}`)).status).toBe(204);
  expect(await assigned()).toBe(null);
  expect((await api.patch(assign, assignment(first))).status).toBe(404);
  expect((await api.patch(assign, document("workspaces", {}))).status).toBe(422);
});

test("a key of another organization cannot be assigned", async () => {
  proves("SSH keys/at most one for a workspace; deletable while assigned");
  const { owner, outsider } = fixture();
  const foreign = await outsider.api.post(
    `/organizations/${outsider.organization}/ssh-keys`,
    input({ name: "foreign", value: "x" }),
  );
  const { id } = await newWorkspace(fixture());
  const assign = `/workspaces/${id}/relationships/ssh-key`;
  expect((await owner.api.patch(assign, assignment(foreign.body.data.id))).status).toBe(404);
});

test("members see names, callers with the right change keys, and a user without access sees none", async () => {
  const { reader, outsider } = fixture();
  const { id } = (await create()).body.data;
  const self = `/ssh-keys/${id}`;
  expect((await reader.api.get(self)).status).toBe(200);
  expect((await reader.api.get(path())).status).toBe(200);
  for (const { api } of [reader, outsider]) {
    expect((await api.post(path(), input({ name: "no", value: "x" }))).status).toBe(404);
    expect((await api.patch(self, input({ name: "no" }))).status).toBe(404);
    expect((await api.delete(self)).status).toBe(404);
  }
  expect((await outsider.api.get(self)).status).toBe(404);
  expect((await outsider.api.get(path())).status).toBe(404);
});
