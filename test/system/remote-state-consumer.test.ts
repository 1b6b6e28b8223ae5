import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { errorDetails, namesOf, newTeam, newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();

const pathOf = (id: string) => `/workspaces/${id}/relationships/remote-state-consumers`;
const items = (...workspaces: { id: string }[]) => ({
  data: workspaces.map(({ id }) => ({ type: "workspaces", id })),
});
const consumers = async (id: string, by = fixture().owner) => namesOf(await by.api.get(pathOf(id)));

const namesIn = (...workspaces: { attributes: { name: string } }[]) =>
  workspaces.map(({ attributes }) => attributes.name).toSorted();

const several = (count: number) =>
  Promise.all(Array.from({ length: count }, () => newWorkspace(fixture())));

/** Creates a user whose team administers the readable project and has no organization-level permission. */
async function administrator() {
  const { stack, readable } = fixture();
  const { id: teamId, member } = await newTeam(fixture());
  await stack.people.grant({ teamId, projectId: readable.id, access: "admin" });
  return member;
}

describe("the approved consumers of a workspace", () => {
  test("are empty at first, ordered by name, in pages, and complete documents", async () => {
    proves("Remote state consumers/global off");
    const { owner } = fixture();
    const [producer, ...others] = await several(4);
    const empty = await owner.api.get(pathOf(producer.id));
    expect(empty.status).toBe(200);
    expect(empty.body.data).toEqual([]);
    expect((await owner.api.post(pathOf(producer.id), items(...others))).status).toBe(204);
    expect(await consumers(producer.id)).toEqual(namesIn(...others));
    const page = await owner.api.get(`${pathOf(producer.id)}?page[size]=2&page[number]=2`);
    expect(namesOf(page)).toEqual(namesIn(...others).slice(2));
    expect(page.body.meta.pagination).toMatchObject({ "total-count": 3, "total-pages": 2 });
    const [first] = page.body.data;
    expect(first).toEqual((await owner.api.get(`/workspaces/${first.id}`)).body.data);
    expect((await owner.api.get(`${pathOf(producer.id)}?page[size]=0`)).status).toBe(400);
  });

  test("have 20 on a page by default", async () => {
    proves("Workspace limits/default page size 20 of workspaces, consumers, tags");
    const { owner } = fixture();
    const [producer, ...others] = await several(22);
    await owner.api.post(pathOf(producer.id), items(...others));
    const { body } = await owner.api.get(pathOf(producer.id));
    expect(body.data).toHaveLength(20);
    expect(body.meta.pagination).toMatchObject({ "page-size": 20, "total-count": 21 });
  });

  test("can be added and removed repeatedly with complete documents in the body", async () => {
    proves("Remote state consumers/POST, DELETE");
    const { owner } = fixture();
    const [producer, one, other] = await several(3);
    for (const body of [items(one), items(one, other, one), { data: [one, other] }]) {
      expect((await owner.api.post(pathOf(producer.id), body)).status).toBe(204);
    }
    expect(await consumers(producer.id)).toEqual(namesIn(one, other));
    for (let time = 0; time < 2; time++) {
      expect((await owner.api.delete(pathOf(producer.id), items(one))).status).toBe(204);
    }
    expect(await consumers(producer.id)).toEqual(namesIn(other));
    expect((await owner.api.delete(`/workspaces/${other.id}`)).status).toBe(204);
    expect(await consumers(producer.id)).toEqual([]);
    // The deleted workspace is no longer in the set, but a request to remove it must not fail.
    expect((await owner.api.delete(pathOf(producer.id), items(other))).status).toBe(204);
  });

  test("can be replaced as a whole, even by an empty list", async () => {
    proves("Versioning/2021-04-16", "Remote state consumers/PATCH");
    const { owner } = fixture();
    const [producer, one, two, three] = await several(4);
    await owner.api.post(pathOf(producer.id), items(one, two));
    expect((await owner.api.patch(pathOf(producer.id), items(two, three))).status).toBe(204);
    expect(await consumers(producer.id)).toEqual(namesIn(two, three));
    expect((await owner.api.patch(pathOf(producer.id), items())).status).toBe(204);
    expect(await consumers(producer.id)).toEqual([]);
  });

  test("cannot be the workspace itself or unknown ones: all problems are reported, nothing changes", async () => {
    proves(
      "Remote state consumers/readable ones only, never itself",
      "Workspace errors/remote state consumers",
    );
    const { owner, outsider } = fixture();
    const [producer, one] = await several(2);
    const foreign = await newWorkspace({ organization: outsider.organization, owner: outsider });
    for (const send of [owner.api.post, owner.api.patch]) {
      const refused = await send(pathOf(producer.id), items(one, producer, foreign));
      expect(refused.status).toBe(422);
      expect(problems(refused)).toEqual({
        "/data/1/id": "A workspace cannot be its own consumer",
        "/data/2/id": `Workspace '${foreign.id}' was not found`,
      });
    }
    expect(await consumers(producer.id)).toEqual([]);
  });

  test.each([
    ["no list", { data: { type: "workspaces", id: "ws-1" } }],
    ["no id", { data: [{ type: "workspaces" }] }],
    ["another type", { data: [{ type: "projects", id: "ws-1" }] }],
    ["no id's form", { data: [{ type: "workspaces", id: "ws 1\0" }] }],
  ])("cannot be changed by a body with %s", async (_, body) => {
    proves("Remote state consumers/readable ones only, never itself");
    const { api } = fixture().owner;
    const [producer] = await several(1);
    for (const send of [api.post, api.patch, api.delete]) {
      expect((await send(pathOf(producer.id), body)).status).toBe(422);
    }
  });

  test("are listed and removed only if the caller may read them", async () => {
    proves("Remote state consumers/global off");
    const { owner, readable } = fixture();
    const user = await administrator();
    const producer = await newWorkspace(fixture(), {}, readable.id);
    const known = await newWorkspace(fixture(), {}, readable.id);
    const [hidden, absent] = await several(2);
    await owner.api.post(pathOf(producer.id), items(known, hidden));
    expect(await consumers(producer.id, user)).toEqual(namesIn(known));
    const { body } = await user.api.get(pathOf(producer.id));
    expect(body.meta.pagination["total-count"]).toBe(1);
    expect((await user.api.post(pathOf(producer.id), items(hidden))).status).toBe(422);
    expect((await user.api.delete(pathOf(producer.id), items(hidden))).status).toBe(422);
    expect((await user.api.delete(pathOf(producer.id), items(absent))).status).toBe(204);
    expect(await consumers(producer.id)).toEqual(namesIn(known, hidden));
  });
});

describe("with global remote state", () => {
  test("all other workspaces are consumers, and the set cannot be changed", async () => {
    proves(
      "Remote state consumers/global on",
      "Remote state consumers/only while global-remote-state is false",
    );
    const { owner, organization } = fixture();
    const [producer, other] = await several(2);
    await owner.api.post(pathOf(producer.id), items(other));
    const share = document("workspaces", { "global-remote-state": true });
    await owner.api.patch(`/workspaces/${producer.id}`, share);
    const all = await owner.api.get(`/organizations/${organization}/workspaces?page[size]=1`);
    const listed = await owner.api.get(`${pathOf(producer.id)}?page[size]=100`);
    const total = all.body.meta.pagination["total-count"];
    expect(listed.body.meta.pagination["total-count"]).toBe(total - 1);
    expect(namesOf(listed)).not.toContain(producer.attributes.name);
    for (const send of [owner.api.post, owner.api.patch, owner.api.delete]) {
      const refused = await send(pathOf(producer.id), items(other));
      expect(refused.status).toBe(422);
      expect(errorDetails(refused)[0]).toContain("global remote state");
    }
    // When global remote state is turned off again, the earlier consumers are approved again.
    const keep = document("workspaces", { "global-remote-state": false });
    await owner.api.patch(`/workspaces/${producer.id}`, keep);
    expect(await consumers(producer.id)).toEqual(namesIn(other));
  });

  test("a reader sees and counts the readable consumers", async () => {
    proves("Remote state consumers/global on");
    const { owner, reader, readable } = fixture();
    const share = { "global-remote-state": true };
    const producer = await newWorkspace(fixture(), share, readable.id);
    const known = await newWorkspace(fixture(), {}, readable.id);
    const hidden = await newWorkspace(fixture());
    const all = `${pathOf(producer.id)}?page[size]=100`;
    const answer = await reader.api.get(all);
    expect(namesOf(answer)).toContain(known.attributes.name);
    for (const { attributes } of [producer, hidden]) {
      expect(namesOf(answer)).not.toContain(attributes.name);
    }
    expect(answer.body.meta.pagination["total-count"]).toBe(answer.body.data.length);
    expect(namesOf(await owner.api.get(all))).toContain(hidden.attributes.name);
  });

  test("project remote state is refused together with it and accepted alone", async () => {
    proves("Remote state consumers/project remote state, not beside the global one");
    const { owner } = fixture();
    const [{ id }] = await several(1);
    const change = (attributes: object) =>
      owner.api.patch(`/workspaces/${id}`, document("workspaces", { ...attributes }));
    const on = await change({ "project-remote-state": true });
    expect(on.body.data.attributes).toMatchObject({
      "project-remote-state": true,
      "global-remote-state": false,
    });
    const both = await change({ "global-remote-state": true });
    expect(both.status).toBe(422);
    expect(problems(both)).toEqual({
      "/data/attributes/project-remote-state":
        "Project remote state cannot be enabled when global remote state sharing is enabled",
    });
    const changed = await change({ "global-remote-state": true, "project-remote-state": false });
    expect(changed.body.data.attributes).toMatchObject({
      "project-remote-state": false,
      "global-remote-state": true,
    });
  });
});

test("adding and removing requires admin on the workspace, replacing also the organization", async () => {
  proves(
    "Authentication/6 replacing all remote state consumers",
    "Remote state consumers/PATCH needs manage-workspaces for",
    "Workspace rights/replacing all remote state consumers",
    "Workspace errors/remote state consumers",
  );
  const { reader, outsider, readable, owner } = fixture();
  const user = await administrator();
  const producer = await newWorkspace(fixture(), {}, readable.id);
  const other = await newWorkspace(fixture(), {}, readable.id);
  const body = items(other);
  for (const { api } of [reader, outsider]) {
    for (const send of [api.post, api.patch, api.delete]) {
      expect((await send(pathOf(producer.id), body)).status).toBe(404);
    }
  }
  expect((await outsider.api.get(pathOf(producer.id))).status).toBe(404);
  expect((await reader.api.get(pathOf(producer.id))).status).toBe(200);
  expect((await user.api.post(pathOf(producer.id), body)).status).toBe(204);
  expect((await user.api.patch(pathOf(producer.id), body)).status).toBe(404);
  expect((await user.api.delete(pathOf(producer.id), body)).status).toBe(204);
  expect((await owner.api.patch(pathOf(producer.id), body)).status).toBe(204);
  expect((await owner.api.get(pathOf("ws-0000000000000000"))).status).toBe(404);
});

test("show_only_configured lists the approved consumers, even if the state is shared with all workspaces", async () => {
  proves("Remote state consumers/global off");
  const { owner } = fixture();
  const [producer, approved] = await several(3);
  await owner.api.post(pathOf(producer.id), items(approved));
  await owner.api.patch(
    `/workspaces/${producer.id}`,
    document("workspaces", { "global-remote-state": true }),
  );
  const all = await owner.api.get(pathOf(producer.id));
  expect(all.body.data.length).toBeGreaterThan(1);
  const only = await owner.api.get(`${pathOf(producer.id)}?show_only_configured=true`);
  expect(namesOf(only)).toEqual(namesIn(approved));
  const not = await owner.api.get(`${pathOf(producer.id)}?show_only_configured=false`);
  expect(not.body.data).toHaveLength(all.body.data.length);
});
