import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { type Api, document } from "../stack/http.ts";
import { newOrganization, organizationId, unusedName } from "../stack/organization.ts";
import { namesOf, newProject, newTeam, newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();
const pools = () => `/organizations/${fixture().organization}/agent-pools`;
const input = (attributes: Record<string, unknown>, relationships?: Record<string, unknown>) =>
  document("agent-pools", attributes, relationships);
const many = (type: string, ...ids: string[]) => ({ data: ids.map((id) => ({ type, id })) });

test("a new pool can be read as created", async () => {
  proves("Agent pools/list, create, show, update, delete; what uses it keeps it");
  const { owner, organization } = fixture();
  const workspace = await newWorkspace(fixture());
  const project = await newProject(fixture());
  const name = unusedName("pool");
  const created = await owner.api.post(
    pools(),
    input(
      { name, "organization-scoped": false },
      {
        "allowed-workspaces": many("workspaces", workspace.id),
        "allowed-projects": many("projects", project.id),
      },
    ),
  );
  expect(created.status).toBe(201);
  const { data } = created.body;
  expect(data).toMatchObject({
    type: "agent-pools",
    attributes: {
      name,
      "organization-scoped": false,
      "agent-count": 0,
      "created-at": expect.stringMatching(/\.\d{3}Z$/),
    },
    relationships: {
      organization: { data: { id: organization, type: "organizations" } },
      "allowed-workspaces": many("workspaces", workspace.id),
      "allowed-projects": many("projects", project.id),
      "excluded-workspaces": { data: [] },
      workspaces: { data: [] },
    },
  });
  expect(data.id).toMatch(/^apool-[A-Za-z0-9]{16}$/);
  const shown = await owner.api.get(`/agent-pools/${data.id}`);
  expect(shown.status).toBe(200);
  expect(shown.body).toEqual(created.body);
});

test("a pool can be changed and deleted unless something uses it", async () => {
  proves("Agent pools/list, create, show, update, delete; what uses it keeps it");
  const { api } = fixture().owner;
  const organization = await newOrganization(api);
  const path = `/organizations/${organization}/agent-pools`;
  const { body } = await api.post(path, input({ name: "first" }));
  const self = `/agent-pools/${body.data.id}`;
  const changed = await api.patch(self, input({ name: "second", "organization-scoped": false }));
  expect(changed.status).toBe(200);
  expect(changed.body.data.attributes).toMatchObject({
    name: "second",
    "organization-scoped": false,
  });
  const mode = (value: string, id?: string) =>
    api.patch(
      `/organizations/${organization}`,
      document(
        "organizations",
        { "default-execution-mode": value },
        id ? { "default-agent-pool": { data: { type: "agent-pools", id } } } : {},
      ),
    );
  await mode("agent", body.data.id);
  expect((await api.delete(self)).status).toBe(409);
  await mode("local");
  expect((await api.delete(self)).status).toBe(204);
  expect((await api.get(self)).status).toBe(404);
});

test("the list supports search, sort and pages", async () => {
  proves("Agent pools/list, create, show, update, delete; what uses it keeps it");
  const { api } = fixture().owner;
  const organization = await newOrganization(api);
  const path = `/organizations/${organization}/agent-pools`;
  for (const name of ["charlie", "alpha", "bravo"]) await api.post(path, input({ name }));
  expect(namesOf(await api.get(path))).toEqual(["alpha", "bravo", "charlie"]);
  expect(namesOf(await api.get(`${path}?sort=-name`))).toEqual(["charlie", "bravo", "alpha"]);
  expect(namesOf(await api.get(`${path}?sort=created-at`))).toEqual(["charlie", "alpha", "bravo"]);
  expect(namesOf(await api.get(`${path}?q=RAV`))).toEqual(["bravo"]);
  const page = await api.get(`${path}?page[size]=2&page[number]=2`);
  expect(namesOf(page)).toEqual(["charlie"]);
  expect(page.body.meta.pagination).toMatchObject({ "total-count": 3, "total-pages": 2 });
  expect((await api.get(`${path}?sort=nonsense`)).status).toBe(400);
});

test("an invalid name is refused", async () => {
  const { api } = fixture().owner;
  const { body } = await api.post(pools(), input({ name: unusedName("taken") }));
  const again = await api.post(pools(), input({ name: body.data.attributes.name }));
  expect(again.status).toBe(422);
  expect(problems(again)).toEqual({ "/data/attributes/name": "Name has already been taken" });
  const blank = await api.patch(`/agent-pools/${body.data.id}`, input({ name: "" }));
  expect(blank.status).toBe(422);
});

test("members may read a pool and not change it; a user without access gets not found", async () => {
  const { owner, reader, outsider } = fixture();
  const { body } = await owner.api.post(pools(), input({ name: unusedName("pool") }));
  const self = `/agent-pools/${body.data.id}`;
  expect((await reader.api.get(self)).status).toBe(200);
  expect((await reader.api.get(pools())).status).toBe(200);
  for (const { api } of [reader, outsider]) {
    expect((await api.post(pools(), input({ name: unusedName("no") }))).status).toBe(404);
    expect((await api.patch(self, input({ name: "no" }))).status).toBe(404);
    expect((await api.delete(self)).status).toBe(404);
  }
  expect((await outsider.api.get(self)).status).toBe(404);
  expect((await outsider.api.get(pools())).status).toBe(404);
});

test("members see the readable workspaces and projects of a pool", async () => {
  proves("Isolation/lists that leak");
  const { owner, reader, readable } = fixture();
  const hiddenProject = await newProject(fixture());
  const shown = await newWorkspace(fixture(), {}, readable.id);
  const hidden = await newWorkspace(fixture());
  const settings = { name: unusedName("pool"), "organization-scoped": false };
  const workspaces = many("workspaces", shown.id, hidden.id);
  const { body } = await owner.api.post(
    pools(),
    input(settings, {
      "allowed-workspaces": workspaces,
      "allowed-projects": many("projects", readable.id, hiddenProject.id),
      "excluded-workspaces": workspaces,
    }),
  );
  const self = `/agent-pools/${body.data.id}`;
  const pool = { "execution-mode": "agent", "agent-pool-id": body.data.id };
  for (const { id } of [shown, hidden]) {
    await owner.api.patch(`/workspaces/${id}`, document("workspaces", pool));
  }
  const named = async (api: Api) => {
    const { relationships } = (await api.get(self)).body.data;
    const listed = await api.get(`${pools()}?q=${settings.name}`);
    expect(listed.body.data[0].relationships).toEqual(relationships);
    return Object.fromEntries(
      Object.entries<{ data: { id: string }[] }>(relationships)
        .filter(([, { data }]) => Array.isArray(data))
        .map(([name, { data }]) => [name, data.map(({ id }) => id).toSorted()]),
    );
  };
  const all = [shown.id, hidden.id].toSorted();
  expect(await named(owner.api)).toEqual({
    workspaces: all,
    "allowed-workspaces": all,
    "allowed-projects": [readable.id, hiddenProject.id].toSorted(),
    "excluded-workspaces": all,
  });
  expect(await named(reader.api)).toEqual({
    workspaces: [shown.id],
    "allowed-workspaces": [shown.id],
    "allowed-projects": [readable.id],
    "excluded-workspaces": [shown.id],
  });

  // An update of a relationship replaces all its members. A user who manages pools therefore sees all members, even
  // workspaces and projects that this user cannot read, but can add only members that this user can read.
  const { member: manager } = await newTeam(fixture(), ["manage-agent-pools"]);
  expect(await named(manager.api)).toEqual(await named(owner.api));
  const relate = (...ids: string[]) =>
    manager.api.patch(self, input({}, { "allowed-workspaces": many("workspaces", ...ids) }));
  expect((await relate(hidden.id)).status).toBe(200);
  const refused = await relate(hidden.id, shown.id);
  expect(problems(refused)).toEqual({
    "/data/relationships/allowed-workspaces": "Allowed workspaces contain an unknown id",
  });
  expect(problems(await relate("ws-0000000000000000"))).toEqual(problems(refused));
});

test("pools can be filtered by the name of a readable workspace that may use them", async () => {
  proves("Isolation/lists that leak");
  const { owner, reader, readable } = fixture();
  await owner.api.post(pools(), input({ name: unusedName("pool") }));
  const shown = await newWorkspace(fixture(), {}, readable.id);
  const hidden = await newWorkspace(fixture());
  const usable = async (api: Api, { attributes }: { attributes: { name: string } }) => {
    const { body } = await api.get(
      `${pools()}?filter[allowed-workspaces][name]=${attributes.name}`,
    );
    expect(body.meta.pagination["total-count"] > 0).toBe(body.data.length > 0);
    const same = await api.get(`${pools()}?filter[allowed_workspaces][name]=${attributes.name}`);
    expect(same.body.data).toEqual(body.data);
    return body.data.length > 0;
  };
  expect(await usable(owner.api, hidden)).toBe(true);
  expect(await usable(reader.api, shown)).toBe(true);
  expect(await usable(reader.api, hidden)).toBe(false);
  // A filter by the name of a project also finds pools only if the caller may read the project.
  for (const filter of ["filter[allowed_projects][name]", "filter[allowed-projects][name]"]) {
    const found = async (api: Api, name: string) =>
      (await api.get(`${pools()}?${filter}=${name}`)).body.data.length > 0;
    expect(await found(reader.api, readable.name)).toBe(true);
    expect(await found(reader.api, "Default Project")).toBe(false);
    expect(await found(owner.api, "Default Project")).toBe(true);
    expect(await found(owner.api, "No Project")).toBe(false);
  }
});

test("a team with manage-agent-pools may manage them", async () => {
  proves("Versioning/2024-05-10");
  const { stack, reader, owner } = fixture();
  const organization = await newOrganization(owner.api);
  await stack.people.newTeam({
    organizationId: await organizationId(stack, organization),
    name: "operators",
    members: [reader],
    organizationAccess: ["manage-agent-pools"],
  });
  const path = `/organizations/${organization}/agent-pools`;
  expect((await reader.api.post(path, input({ name: "ours" }))).status).toBe(201);
});
