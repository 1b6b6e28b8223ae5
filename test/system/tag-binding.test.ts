import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { newProject, newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();

const binding = (key: unknown, value?: unknown) => ({
  type: "tag-bindings",
  attributes: { key, ...(value === undefined ? {} : { value }) },
});
const path = (id: string) => `/workspaces/${id}/tag-bindings`;
const patch = (id: string, ...data: unknown[]) => fixture().owner.api.patch(path(id), { data });
const pairs = (data: { attributes: { key: string; value: string } }[]) =>
  data.map(({ attributes: { key, value } }) => `${key}=${value}`);
const own = async (id: string) =>
  pairs((await fixture().owner.api.get(path(id))).body.data).toSorted();

test("bindings are added and changed, others kept, and returned in the order of the request", async () => {
  proves("Tags/bindings: PATCH upserts, in");
  const { id } = await newWorkspace(fixture());
  const first = await patch(id, binding("zone", "b"), binding("app", "web"), binding("flat"));
  expect(first.status).toBe(200);
  expect(pairs(first.body.data)).toEqual(["zone=b", "app=web", "flat="]);
  for (const data of first.body.data) {
    expect(data).toMatchObject({
      type: "tag-bindings",
      id: expect.stringMatching(/^tb-[A-Za-z0-9]{16}$/),
      attributes: { "created-at": expect.stringMatching(/Z$/) },
    });
  }
  const second = await patch(id, binding("new", "1"), binding("zone", "c"));
  expect(pairs(second.body.data)).toEqual(["new=1", "zone=c"]);
  expect(await own(id)).toEqual(["app=web", "flat=", "new=1", "zone=c"]);
  const shown = await fixture().owner.api.get(`/workspaces/${id}`);
  expect(shown.body.data.attributes["tag-names"]).toEqual(["flat"]);
});

test("an update of the workspace replaces all bindings", async () => {
  proves("Tags/bindings: PATCH of the");
  const { owner } = fixture();
  const { id } = await newWorkspace(fixture());
  await patch(id, binding("old", "1"), binding("flat"));
  const updated = await owner.api.patch(
    `/workspaces/${id}`,
    document("workspaces", {}, { "tag-bindings": { data: [binding("new", "2")] } }),
  );
  expect(updated.status).toBe(200);
  expect(await own(id)).toEqual(["new=2"]);
  const emptied = await owner.api.patch(
    `/workspaces/${id}`,
    document("workspaces", {}, { "tag-bindings": { data: [] } }),
  );
  expect(emptied.status).toBe(200);
  expect(await own(id)).toEqual([]);
});

test.each([
  {
    as: "an update of the workspace",
    replace: (id: string, ...data: unknown[]) =>
      fixture().owner.api.patch(
        `/workspaces/${id}`,
        document("workspaces", {}, { "tag-bindings": { data } }),
      ),
  },
  {
    as: "PATCH of the relationship",
    replace: (id: string, ...data: unknown[]) =>
      fixture().owner.api.patch(`/workspaces/${id}/relationships/tag-bindings`, { data }),
  },
])("$as that replaces the bindings keeps the flat tags", async ({ replace }) => {
  proves("Tags/bindings: PATCH of the", "Real clients/1");
  const { owner } = fixture();
  const { id } = await newWorkspace(fixture());
  const tags = ["added", "made-with"].map((name) => ({ type: "tags", attributes: { name } }));
  await owner.api.post(`/workspaces/${id}/relationships/tags`, { data: tags });
  await patch(id, binding("old", "1"), binding("valueless"));
  await replace(id, binding("new", "2"));
  expect(await own(id)).toEqual(["added=", "made-with=", "new=2"]);
  await replace(id);
  const shown = await owner.api.get(`/workspaces/${id}`);
  expect(shown.body.data.attributes["tag-names"]).toEqual(["added", "made-with"]);
  await replace(id, binding("added"));
  const effective = await owner.api.get(`/workspaces/${id}/effective-tag-bindings`);
  expect(pairs(effective.body.data)).toEqual(["added="]);
});

test("effective bindings are the workspace's own if the project has none", async () => {
  proves("Tags/effective bindings");
  const { owner } = fixture();
  const { id } = await newWorkspace(fixture());
  await patch(id, binding("team", "core"));
  const { status, body } = await owner.api.get(`/workspaces/${id}/effective-tag-bindings`);
  expect(status).toBe(200);
  expect(body.data).toHaveLength(1);
  expect(body.data[0]).toMatchObject({
    type: "effective-tag-bindings",
    attributes: { key: "team", value: "core" },
  });
  expect(body.data[0].links ?? {}).not.toHaveProperty("inherited-from");
});

test("ten bindings with a value are the maximum; flat tags do not count", async () => {
  proves("Tags/bindings: PATCH upserts, in");
  const { id } = await newWorkspace(fixture());
  const ten = Array.from({ length: 10 }, (_, index) => binding(`k${index}`, "v"));
  expect((await patch(id, ...ten)).status).toBe(200);
  expect((await patch(id, binding("flat1"), binding("flat2"))).status).toBe(200);
  expect((await patch(id, binding("k0", "other"))).status).toBe(200);
  const eleventh = await patch(id, binding("k10", "v"));
  expect(eleventh.status).toBe(422);
  expect(problems(eleventh)).toEqual({ "/data": "Tag bindings are too many (maximum is 10)" });
  expect((await patch(id, binding("k10", "v"), binding("k9"))).status).toBe(200);
  expect(await own(id)).toHaveLength(13);
});

test.each([
  ["an empty key", "", "v"],
  ["a key of 129 characters", "k".repeat(129), "v"],
  ["a value of 257 characters", "k", "v".repeat(257)],
  ["a space in a key", "a b", "v"],
  ["a slash in a value", "k", "a/b"],
  ["the prefix hc:", "hc:k", "v"],
  ["the prefix hcp:", "hcp:k", "v"],
  ["a key that is a number", 3, "v"],
  ["no key", undefined, "v"],
])("%s is refused", async (_, key, value) => {
  proves("Tags/bindings: forms, lengths, refused");
  const { id } = await newWorkspace(fixture());
  const answer = await patch(id, binding("fine", "1"), binding(key, value));
  expect(answer.status).toBe(422);
  const [pointer] = Object.keys(problems(answer));
  expect(pointer).toMatch(/^\/data\/1\/attributes\/(key|value)$/);
  expect(await own(id)).toEqual([]);
});

test("the longest key and value with all allowed characters are stored", async () => {
  proves("Tags/bindings: forms, lengths, refused");
  const { id } = await newWorkspace(fixture());
  const key = "aZ0_.=+-@:".padEnd(128, "k");
  const value = "aZ0_.=+-@:".padEnd(256, "v");
  expect((await patch(id, binding(key, value))).status).toBe(200);
  expect(await own(id)).toEqual([`${key}=${value}`]);
});

test("a reader may see bindings and not change them; a user without access sees none", async () => {
  const { reader, outsider, readable } = fixture();
  const { id } = await newWorkspace(fixture(), {}, readable.id);
  await patch(id, binding("team", "core"));
  expect(pairs((await reader.api.get(path(id))).body.data)).toEqual(["team=core"]);
  expect((await reader.api.get(`/workspaces/${id}/effective-tag-bindings`)).status).toBe(200);
  const change = { data: [binding("team", "other")] };
  expect((await reader.api.patch(path(id), change)).status).toBe(404);
  for (const suffix of ["tag-bindings", "effective-tag-bindings"]) {
    expect((await outsider.api.get(`/workspaces/${id}/${suffix}`)).status).toBe(404);
  }
});

test("effective bindings omit flat tags that came through tag-names or the tags relationship", async () => {
  proves("Tags/effective bindings");
  const { owner, organization } = fixture();
  const tag = (name: string) => ({ type: "tags", attributes: { name } });
  const made = await owner.api.post(
    `/organizations/${organization}/workspaces`,
    document(
      "workspaces",
      { name: unusedName("tagged") },
      {
        tags: { data: [tag("made-with")] },
        "tag-bindings": { data: [binding("bound"), binding("team", "core")] },
      },
    ),
  );
  const { id } = made.body.data;
  await owner.api.post(`/workspaces/${id}/relationships/tags`, { data: [tag("added")] });
  const effective = async () => {
    const alone = await owner.api.get(`/workspaces/${id}/effective-tag-bindings`);
    const included = await owner.api.get(`/workspaces/${id}?include=effective_tag_bindings`);
    expect(included.body.included).toEqual(alone.body.data);
    for (const one of alone.body.data) expect(one).not.toHaveProperty("links");
    return pairs(alone.body.data).toSorted();
  };
  expect(await effective()).toEqual(["bound=", "team=core"]);
  expect(await own(id)).toEqual(["added=", "bound=", "made-with=", "team=core"]);

  // A tag that was added as a flat tag becomes an effective binding when it is set as a binding. A tag that was set as
  // a binding stays effective when it is added as a flat tag.
  await patch(id, binding("added"));
  await owner.api.post(`/workspaces/${id}/relationships/tags`, { data: [tag("bound")] });
  expect(await effective()).toEqual(["added=", "bound=", "team=core"]);
  const shown = await owner.api.get(`/workspaces/${id}`);
  expect(shown.body.data.attributes["tag-names"]).toEqual(["added", "bound", "made-with"]);
});

test("inherited bindings link to the project that they are inherited from", async () => {
  proves("Tags/effective bindings");
  const { owner } = fixture();
  const project = await newProject(fixture());
  const { id } = await newWorkspace(fixture(), {}, project.id);
  const ofProject = { data: [binding("cost", "7"), binding("env", "prod")] };
  await owner.api.patch(`/projects/${project.id}/tag-bindings`, ofProject);
  await patch(id, binding("env", "test"));
  const { body } = await owner.api.get(`/workspaces/${id}/effective-tag-bindings`);
  expect(body.data).toMatchObject([
    {
      attributes: { key: "cost", value: "7" },
      links: { "inherited-from": `/api/v2/projects/${project.id}` },
    },
    { attributes: { key: "env", value: "test" } },
  ]);
  expect(await own(id)).toEqual(["env=test"]);
});

test.each(["workspaces", "projects"] as const)(
  "the relationship tag-bindings of %s: POST adds and PATCH replaces, both with 204",
  async (type) => {
    const { owner, reader } = fixture();
    const project = await newProject(fixture());
    const { id } = type === "projects" ? project : await newWorkspace(fixture(), {}, project.id);
    const relationship = `/${type}/${id}/relationships/tag-bindings`;
    const shown = async () => {
      const related = await owner.api.get(relationship);
      expect(related.body).toEqual((await owner.api.get(`/${type}/${id}/tag-bindings`)).body);
      return pairs(related.body.data).toSorted();
    };
    const send = (method: string, ...data: unknown[]) =>
      owner.api.send(method, relationship, { data });
    expect((await send("POST", binding("a", "1"), binding("b", "2"))).status).toBe(204);
    expect((await send("POST", binding("b", "3"), binding("c", "4"))).status).toBe(204);
    expect(await shown()).toEqual(["a=1", "b=3", "c=4"]);
    expect((await send("PATCH", binding("c", "5"), binding("d", "6"))).status).toBe(204);
    expect(await shown()).toEqual(["c=5", "d=6"]);
    for (const method of ["POST", "PATCH"]) {
      const wrong = await send(method, binding("a b", "1"));
      expect(problems(wrong)).toEqual({ "/data/0/attributes/key": "Key is invalid" });
      const hidden = await reader.api.send(method, relationship, { data: [binding("a", "1")] });
      expect(hidden.status).toBe(404);
    }
    expect((await reader.api.get(relationship)).status).toBe(404);
    expect((await send("PATCH")).status).toBe(204);
    expect(await shown()).toEqual([]);
  },
);
