import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { type Answer, document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { namesOf, newTeam, newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();

/**
 * Creates an organization with two workspaces: the first has the tags `both` and `one`, the second `both` and `two`.
 */
async function tagged() {
  const { owner } = fixture();
  const organization = await newOrganization(owner.api);
  const first = await newWorkspace({ organization, owner });
  const second = await newWorkspace({ organization, owner });
  const add = (id: string, ...names: string[]) =>
    owner.api.post(`/workspaces/${id}/relationships/tags`, {
      data: names.map((name) => ({ type: "tags", attributes: { name } })),
    });
  await add(first.id, "both", "one");
  await add(second.id, "both", "two");
  const path = `/organizations/${organization}/tags`;
  const idOf = async (name: string): Promise<string> =>
    (await owner.api.get(`${path}?q=${name}`)).body.data[0].id;
  return { organization, first, second, path, idOf, api: owner.api };
}

const refs = (type: string, ...ids: string[]) => ({ data: ids.map((id) => ({ type, id })) });

test("the list contains each tag with the number of its workspaces", async () => {
  proves("Tags/organization tags");
  const { path, api, organization, first } = await tagged();
  const all = await api.get(path);
  expect(all.status).toBe(200);
  expect(all.body.data).toMatchObject([
    {
      type: "tags",
      id: expect.stringMatching(/^tag-[A-Za-z0-9]{16}$/),
      attributes: { name: "both", "instance-count": 2, "created-at": expect.stringMatching(/Z$/) },
      relationships: { organization: { data: { id: organization, type: "organizations" } } },
    },
    { attributes: { name: "one", "instance-count": 1 } },
    { attributes: { name: "two", "instance-count": 1 } },
  ]);
  expect(namesOf(await api.get(`${path}?q=O`))).toEqual(["both", "one", "two"]);
  expect(namesOf(await api.get(`${path}?q=WO`))).toEqual(["two"]);
  const others = await api.get(`${path}?filter[exclude][taggable][id]=${first.id}`);
  expect(namesOf(others)).toEqual(["two"]);
  expect(others.body.meta.pagination["total-count"]).toBe(1);
  const page = await api.get(`${path}?page[size]=2&page[number]=2`);
  expect(namesOf(page)).toEqual(["two"]);
  expect(page.body.meta.pagination).toMatchObject({ "total-count": 3, "total-pages": 2 });
  expect((await api.get(`${path}?page[size]=0`)).status).toBe(400);
});

test("a deleted tag is removed from every workspace; a binding with its key remains", async () => {
  proves("Tags/organization tags");
  const { path, api, first, second, idOf } = await tagged();
  await api.patch(`/workspaces/${second.id}/tag-bindings`, {
    data: [{ type: "tag-bindings", attributes: { key: "one", value: "1" } }],
  });
  const ids = [await idOf("both"), await idOf("one")];
  expect((await api.delete(path, refs("tags", ...ids))).status).toBe(204);
  expect(namesOf(await api.get(path))).toEqual(["two"]);
  const shown = async (id: string) =>
    (await api.get(`/workspaces/${id}`)).body.data.attributes["tag-names"];
  expect(await shown(first.id)).toEqual([]);
  expect(await shown(second.id)).toEqual(["two"]);
  const bindings = await api.get(`/workspaces/${second.id}/tag-bindings`);
  expect(bindings.body.data).toMatchObject([
    { attributes: { key: "one", value: "1" } },
    { attributes: { key: "two", value: "" } },
  ]);
  const again = await api.delete(path, refs("tags", await idOf("two"), ...ids));
  expect(again.status).toBe(404);
  expect(namesOf(await api.get(path))).toEqual(["two"]);
  expect((await api.delete(path, { data: [{ type: "tags" }] })).status).toBe(422);
});

test("an unused tag disappears and gets another id when it is used again", async () => {
  proves("Tags/a tag removed from all workspaces disappears");
  const { path, api, first, idOf } = await tagged();
  const id = await idOf("one");
  const tags = `/workspaces/${first.id}/relationships/tags`;
  const one = { data: [{ type: "tags", attributes: { name: "one" } }] };
  await api.delete(tags, one);
  expect(namesOf(await api.get(path))).toEqual(["both", "two"]);
  await api.post(tags, one);
  expect(await idOf("one")).not.toBe(id);
  await api.delete(`/workspaces/${first.id}`);
  expect(namesOf(await api.get(path))).toEqual(["both", "two"]);
});

test("a tag is added to many workspaces, all or none", async () => {
  proves("Tags/organization tags");
  const { api, first, second, idOf, path } = await tagged();
  const assign = `/tags/${await idOf("two")}/relationships/workspaces`;
  const { outsider } = fixture();
  const foreign = await newWorkspace({ ...outsider, owner: outsider });
  const unknown = await api.post(assign, refs("workspaces", first.id, foreign.id));
  expect(unknown.status).toBe(404);
  expect(namesOf(await api.get(`/workspaces/${first.id}/relationships/tags`))).not.toContain("two");
  const assignment = await api.post(assign, refs("workspaces", first.id, second.id));
  expect(assignment.status).toBe(204);
  const [two] = (await api.get(`${path}?q=two`)).body.data;
  expect(two.attributes["instance-count"]).toBe(2);
  expect((await api.post(assign, { data: [{ type: "tags", id: first.id }] })).status).toBe(422);
  const nowhere = "/tags/tag-0000000000000000/relationships/workspaces";
  expect((await api.post(nowhere, refs("workspaces", first.id))).status).toBe(404);
});

test("a member sees tags and cannot remove them; a user without access sees none", async () => {
  const { owner, reader, outsider, organization, readable } = fixture();
  const workspace = await newWorkspace(fixture(), {}, readable.id);
  await owner.api.post(`/workspaces/${workspace.id}/relationships/tags`, {
    data: [{ type: "tags", attributes: { name: "seen" } }],
  });
  const path = `/organizations/${organization}/tags`;
  const listed = await reader.api.get(path);
  expect(namesOf(listed)).toContain("seen");
  const [{ id }] = listed.body.data;
  const assign = `/tags/${id}/relationships/workspaces`;
  for (const { api } of [reader, outsider]) {
    expect((await api.delete(path, refs("tags", id))).status).toBe(404);
    expect((await api.post(assign, refs("workspaces", workspace.id))).status).toBe(404);
  }
  expect((await outsider.api.get(path)).status).toBe(404);
  const hidden = await newWorkspace(fixture());
  await owner.api.post(`/workspaces/${hidden.id}/relationships/tags`, {
    data: [{ type: "tags", attributes: { name: "seen" } }],
  });
  const excluding = await reader.api.get(`${path}?filter[exclude][taggable][id]=${hidden.id}`);
  expect(namesOf(excluding)).toContain("seen");
});

test("a member sees and counts the tags of readable workspaces", async () => {
  proves("Isolation/lists that leak");
  const { owner, reader, organization, readable } = fixture();
  const shown = await newWorkspace(fixture(), {}, readable.id);
  const hidden = await newWorkspace(fixture());
  const [both, secret] = [unusedName("both"), unusedName("secret")];
  const named = (...names: string[]) => ({
    data: names.map((name) => ({ type: "tags", attributes: { name } })),
  });
  const ofShown = `/workspaces/${shown.id}/relationships/tags`;
  await owner.api.post(ofShown, named(both));
  await owner.api.post(`/workspaces/${hidden.id}/relationships/tags`, named(both, secret));
  const path = `/organizations/${organization}/tags`;
  const counts = async (answer: Promise<Answer>) =>
    Object.fromEntries(
      (await answer).body.data.map(
        ({ attributes }: { attributes: { name: string; "instance-count": number } }) => [
          attributes.name,
          attributes["instance-count"],
        ],
      ),
    );
  expect(await counts(owner.api.get(path))).toMatchObject({ [both]: 2, [secret]: 1 });
  const seen = await counts(reader.api.get(`${path}?page[size]=100`));
  expect(seen).toHaveProperty(both, 1);
  expect(seen).not.toHaveProperty(secret);
  expect(await counts(reader.api.get(ofShown))).toEqual({ [both]: 1 });
  const searched = await reader.api.get(`${path}?q=${secret}`);
  expect(searched.body.meta.pagination["total-count"]).toBe(0);
});

test("the id of a tag that the caller cannot see is not found", async () => {
  proves("Isolation/lists that leak");
  const { owner, organization, readable, stack } = fixture();
  const { id: teamId, member: admin } = await newTeam(fixture());
  await stack.people.grant({ teamId, projectId: readable.id, access: "admin" });
  const [mine, hidden] = [
    await newWorkspace(fixture(), {}, readable.id),
    await newWorkspace(fixture()),
  ];
  const name = unusedName("secret");
  await owner.api.post(`/workspaces/${hidden.id}/relationships/tags`, {
    data: [{ type: "tags", attributes: { name } }],
  });
  const [{ id }] = (await owner.api.get(`/organizations/${organization}/tags?q=${name}`)).body.data;
  const tags = `/workspaces/${mine.id}/relationships/tags`;
  const assign = `/tags/${id}/relationships/workspaces`;
  expect((await admin.api.post(tags, refs("tags", id))).status).toBe(404);
  expect((await admin.api.delete(tags, refs("tags", id))).status).toBe(404);
  expect((await admin.api.post(assign, refs("workspaces", mine.id))).status).toBe(404);
  await owner.api.post(assign, refs("workspaces", mine.id));
  expect((await admin.api.post(assign, refs("workspaces", mine.id))).status).toBe(204);
  expect((await admin.api.delete(tags, refs("tags", id))).status).toBe(204);
});

test("a reserved key without overrides keeps the value of the project", async () => {
  proves("Tags/reserved tag keys");
  const { owner } = fixture();
  const organization = await newOrganization(owner.api);
  const path = `/organizations/${organization}/reserved-tag-keys`;
  const reserved = await owner.api.post(
    path,
    document("reserved-tag-keys", { key: "cost", "disable-overrides": true }),
  );
  expect(reserved.status).toBe(201);
  const cost = (value: string) => ({ type: "tag-bindings", attributes: { key: "cost", value } });
  const project = await owner.api.post(
    `/organizations/${organization}/projects`,
    document("projects", { name: "billed" }, { "tag-bindings": { data: [cost("42")] } }),
  );
  const inProject = { project: { data: { type: "projects", id: project.body.data.id } } };
  const workspaces = `/organizations/${organization}/workspaces`;
  const create = (name: string, ...data: unknown[]) =>
    owner.api.post(
      workspaces,
      document("workspaces", { name }, { ...inProject, "tag-bindings": { data } }),
    );
  const several = await create("not a name", cost("43"));
  expect(problems(several)).toEqual({
    "/data/attributes/name": "Name is invalid",
    "/data/relationships/tag-bindings":
      "Key 'cost' is reserved; the value of the project cannot be overridden.",
  });
  expect((await create("other-value", cost("43"))).status).toBe(422);
  expect((await create("same-value", cost("42"))).status).toBe(201);
  const { id } = (await create("none")).body.data;
  const bindings = `/workspaces/${id}/tag-bindings`;
  const refused = await owner.api.patch(bindings, { data: [cost("43")] });
  expect(refused.status).toBe(422);
  expect(refused.body.errors[0].detail).toBe(
    "Key 'cost' is reserved; the value of the project cannot be overridden.",
  );
  const flat = await owner.api.post(`/workspaces/${id}/relationships/tags`, {
    data: [{ type: "tags", attributes: { name: "cost" } }],
  });
  expect(flat.status).toBe(422);
  const outside = await newWorkspace({ organization, owner });
  await owner.api.post(`/workspaces/${outside.id}/relationships/tags`, {
    data: [{ type: "tags", attributes: { name: "cost" } }],
  });
  const [tag] = (await owner.api.get(`/organizations/${organization}/tags?q=cost`)).body.data;
  const assigned = await owner.api.post(
    `/tags/${tag.id}/relationships/workspaces`,
    refs("workspaces", id),
  );
  expect(assigned.status).toBe(422);
  const replaced = await owner.api.patch(
    `/workspaces/${id}`,
    document("workspaces", {}, { "tag-bindings": { data: [cost("43")] } }),
  );
  expect(replaced.status).toBe(422);
  const self = `/reserved-tag-keys/${reserved.body.data.id}`;
  await owner.api.patch(self, document("reserved-tag-keys", { "disable-overrides": false }));
  expect((await owner.api.patch(bindings, { data: [cost("43")] })).status).toBe(200);
});
