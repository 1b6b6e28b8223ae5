import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { namesOf, newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();

const tag = (name: string) => ({ type: "tags", attributes: { name } });
const path = (id: string) => `/workspaces/${id}/relationships/tags`;
const add = (id: string, ...data: unknown[]) => fixture().owner.api.post(path(id), { data });
const remove = (id: string, ...data: unknown[]) => fixture().owner.api.delete(path(id), { data });
const tagNames = async (id: string): Promise<string[]> =>
  (await fixture().owner.api.get(`/workspaces/${id}`)).body.data.attributes["tag-names"];

test("tags are added once each, listed, and shown with the workspace", async () => {
  proves(
    "Versioning/2021-07-30",
    "Workspace run attributes/tag-names, resource-count, updated-at, locked",
    "Tags/POST",
  );
  const { owner, organization } = fixture();
  const { id } = await newWorkspace(fixture());
  expect((await add(id, tag("green"), tag("app"))).status).toBe(204);
  expect((await add(id, tag("app"), tag("blue"))).status).toBe(204);
  const listed = await owner.api.get(path(id));
  expect(listed.status).toBe(200);
  expect(namesOf(listed).toSorted()).toEqual(["app", "blue", "green"]);
  for (const data of listed.body.data) {
    expect(data).toMatchObject({
      id: expect.stringMatching(/^tag-[A-Za-z0-9]{16}$/),
      type: "tags",
      attributes: { "instance-count": expect.any(Number) },
      relationships: { organization: { data: { id: organization, type: "organizations" } } },
    });
  }
  expect(await tagNames(id)).toEqual(["app", "blue", "green"]);
});

test("a tag belongs to the organization and counts its workspaces", async () => {
  proves("Tags/POST");
  const { owner } = fixture();
  const name = unusedName("shared");
  const [one, other] = [await newWorkspace(fixture()), await newWorkspace(fixture())];
  await add(one.id, tag(name));
  const [first] = (await owner.api.get(path(one.id))).body.data;
  expect((await add(other.id, { type: "tags", id: first.id })).status).toBe(204);
  const [second] = (await owner.api.get(path(other.id))).body.data;
  expect(second).toEqual({ ...first, attributes: { ...first.attributes, "instance-count": 2 } });
});

test("tags are removed by name and by id; an unknown name changes nothing", async () => {
  proves("Tags/DELETE");
  const { owner } = fixture();
  const { id } = await newWorkspace(fixture());
  await add(id, tag("one"), tag("two"), tag("three"));
  const two = (await owner.api.get(path(id))).body.data.find(
    ({ attributes }: { attributes: { name: string } }) => attributes.name === "two",
  );
  const removed = await remove(id, tag("one"), { type: "tags", id: two.id }, tag("unknown"));
  expect(removed.status).toBe(204);
  expect(await tagNames(id)).toEqual(["three"]);
  const unknown = await remove(id, { type: "tags", id: "tag-0000000000000000" });
  expect(unknown.status).toBe(404);
});

test("tags of a new workspace and bindings without a value are the same", async () => {
  proves("Tags/a flat tag and");
  const { owner, organization } = fixture();
  const made = await owner.api.post(
    `/organizations/${organization}/workspaces`,
    document(
      "workspaces",
      { name: unusedName("tagged") },
      {
        tags: { data: [tag("flat")] },
        "tag-bindings": {
          data: [
            { type: "tag-bindings", attributes: { key: "empty", value: "" } },
            { type: "tag-bindings", attributes: { key: "team", value: "core" } },
          ],
        },
      },
    ),
  );
  expect(made.status).toBe(201);
  const { id, attributes } = made.body.data;
  expect(attributes["tag-names"]).toEqual(["empty", "flat"]);
  const bindings = await owner.api.get(`/workspaces/${id}/tag-bindings`);
  expect(
    Object.fromEntries(
      bindings.body.data.map(
        (binding: { attributes: { key: string; value: string } }) =>
          [binding.attributes.key, binding.attributes.value] as const,
      ),
    ),
  ).toEqual({ empty: "", flat: "", team: "core" });
  await remove(id, tag("empty"));
  expect((await owner.api.get(`/workspaces/${id}/tag-bindings`)).body.data).toHaveLength(2);
});

test("tags have pages", async () => {
  proves(
    "Tags/GET relationships/tags",
    "Workspace limits/default page size 20 of workspaces, consumers, tags",
  );
  const { owner } = fixture();
  const { id } = await newWorkspace(fixture());
  const names = Array.from({ length: 25 }, (_, index) => `t${String(index).padStart(2, "0")}`);
  expect((await add(id, ...names.map(tag))).status).toBe(204);
  const first = await owner.api.get(path(id));
  expect(first.body.data).toHaveLength(20);
  expect(first.body.meta.pagination).toMatchObject({ "total-count": 25, "next-page": 2 });
  const second = await owner.api.get(`${path(id)}?page[number]=2`);
  expect([...namesOf(first), ...namesOf(second)].toSorted()).toEqual(names);
  expect((await owner.api.get(`${path(id)}?page[size]=-1`)).status).toBe(400);
});

test("tags added concurrently are all stored", async () => {
  const { id } = await newWorkspace(fixture());
  const shared = unusedName("at-once");
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => add(id, tag(`n${index}`), tag(shared))),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(204));
  expect(await tagNames(id)).toHaveLength(9);
});

test("an invalid tag is refused, and nothing is changed", async () => {
  proves("Tags/POST");
  const { id } = await newWorkspace(fixture());
  for (const data of [
    [tag("fine"), tag("not fine")],
    [tag("x".repeat(10_000))],
    [{ type: "things", attributes: { name: "a" } }],
    [{ type: "tags" }],
    [{ type: "tags", attributes: { name: "" } }],
    "tags",
  ]) {
    const answer = await fixture().owner.api.post(path(id), { data });
    expect(answer.status, JSON.stringify(data).slice(0, 60)).toBe(422);
    expect(Object.keys(problems(answer))[0]).toMatch(/^\/data/);
  }
  const last = await add(id, tag("a"), tag("a"), tag("not fine"));
  expect(Object.keys(problems(last))).toEqual(["/data/2/attributes/name"]);
  const wrong = await remove(id, { type: "things" });
  expect(wrong.status).toBe(422);
  expect(await tagNames(id)).toEqual([]);
});

test("a reader may see tags and not change them; a user without access sees none", async () => {
  proves("Workspace errors/tags");
  const { reader, outsider, readable } = fixture();
  const { id } = await newWorkspace(fixture(), {}, readable.id);
  await add(id, tag("seen"));
  expect(namesOf(await reader.api.get(path(id)))).toEqual(["seen"]);
  expect((await reader.api.post(path(id), { data: [tag("no")] })).status).toBe(404);
  expect((await reader.api.delete(path(id), { data: [tag("seen")] })).status).toBe(404);
  expect((await outsider.api.get(path(id))).status).toBe(404);
  expect(await tagNames(id)).toEqual(["seen"]);
});
