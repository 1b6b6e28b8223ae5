import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { expectStatus, stateFile, writeState } from "../stack/state.ts";
import { namesOf, newProject, newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();
const input = (attributes: Record<string, unknown>, relationships?: Record<string, unknown>) =>
  document("projects", attributes, relationships);
const binding = (key: string, value?: string) => ({
  type: "tag-bindings",
  attributes: { key, ...(value === undefined ? {} : { value }) },
});
const pairs = (data: { attributes: { key: string; value: string } }[]) =>
  data.map(({ attributes: { key, value } }) => `${key}=${value}`);

test("an update changes the given settings and keeps all other settings", async () => {
  proves("Projects/create, show, update, delete");
  const { api } = fixture().owner;
  const project = await newProject(fixture());
  const self = `/projects/${project.id}`;
  const described = await api.patch(self, input({ description: "What it is" }));
  expect(described.status).toBe(200);
  expect(described.body.data.attributes).toMatchObject({
    name: project.name,
    description: "What it is",
  });
  const name = unusedName("renamed");
  const renamed = await api.patch(self, input({ name }));
  expect(renamed.body.data.attributes).toMatchObject({ name, description: "What it is" });
  expect((await api.get(self)).body).toEqual(renamed.body);
  const emptied = await api.patch(self, input({ description: "" }));
  expect(emptied.body.data.attributes.description).toBe("");
});

test("workspaces inherit the project's default mode until the organization's applies again", async () => {
  proves("Projects/execution mode");
  const { owner } = fixture();
  const organization = await newOrganization(owner.api);
  const project = await newProject({ organization, owner });
  const self = `/projects/${project.id}`;
  const workspace = await newWorkspace({ organization, owner }, {}, project.id);
  const mode = async () => {
    const { data } = (await owner.api.get(`/workspaces/${workspace.id}`)).body;
    return [data.attributes["execution-mode"], data.relationships["agent-pool"].data?.id ?? null];
  };
  const remote = await owner.api.patch(self, input({ "default-execution-mode": "remote" }));
  expect(remote.body.data.attributes).toMatchObject({
    "default-execution-mode": "remote",
    "setting-overwrites": { "default-execution-mode": true, "default-agent-pool": true },
  });
  expect(await mode()).toEqual(["remote", null]);
  const pool = await owner.api.post(
    `/organizations/${organization}/agent-pools`,
    document("agent-pools", { name: "agents" }),
  );
  const { id } = pool.body.data;
  const linkage = { "default-agent-pool": { data: { type: "agent-pools", id } } };
  const agent = await owner.api.patch(self, input({ "default-execution-mode": "agent" }, linkage));
  expect(agent.body.data.relationships).toMatchObject(linkage);
  expect(await mode()).toEqual(["agent", id]);
  // go-tfe sends the pool as an attribute.
  await owner.api.patch(self, input({ "default-execution-mode": "local" }));
  const named = input({ "default-execution-mode": "agent", "default-agent-pool-id": id });
  expect((await owner.api.patch(self, named)).body.data.relationships).toMatchObject(linkage);
  const inherited = await owner.api.patch(
    self,
    input({ "setting-overwrites": { "default-execution-mode": false } }),
  );
  expect(inherited.body.data).toMatchObject({
    attributes: {
      "default-execution-mode": "local",
      "setting-overwrites": { "default-execution-mode": false, "default-agent-pool": false },
    },
    relationships: { "default-agent-pool": { data: null } },
  });
  expect(await mode()).toEqual(["local", null]);
  const created = await owner.api.post(
    `/organizations/${organization}/projects`,
    input({ name: "remote project", "default-execution-mode": "remote" }),
  );
  expect(created.body.data.attributes["default-execution-mode"]).toBe("remote");
});

test("all problems are reported, and nothing is changed", async () => {
  const { api } = fixture().owner;
  const project = await newProject(fixture());
  const answer = await api.patch(
    `/projects/${project.id}`,
    input(
      { name: "Default Project", "default-execution-mode": "agent" },
      { "tag-bindings": { data: [binding("hc:a", "1")] } },
    ),
  );
  expect(answer.status).toBe(422);
  expect(problems(answer)).toEqual({
    "/data/attributes/name": "Name has already been taken",
    "/data/relationships/default-agent-pool": "must be specified when using 'agent' execution mode",
    "/data/relationships/tag-bindings/data/0/attributes/key": "Key has a reserved prefix",
  });
  const { body } = await api.get(`/projects/${project.id}`);
  expect(body.data.attributes.name).toBe(project.name);
  // Invalid values are combined with values of wrong types and an unknown pool.
  const pool = { "default-agent-pool": { data: { type: "agent-pools", id: "junk" } } };
  const wrong = input({ name: "a/b", description: 3, "default-execution-mode": "agent" }, pool);
  const expected = {
    "/data/attributes/name":
      "Name may only contain letters, digits, spaces, hyphens and underscores, and no space at its ends",
    "/data/attributes/description": "Description must be a string",
    "/data/relationships/default-agent-pool": "Default agent pool is invalid",
  };
  const list = `/organizations/${fixture().organization}/projects`;
  expect(problems(await api.patch(`/projects/${project.id}`, wrong))).toEqual(expected);
  expect(problems(await api.post(list, wrong))).toEqual(expected);
});

test("bindings are added and changed by PATCH, replaced through the project, and inherited", async () => {
  proves("Projects/bindings and effective bindings");
  const { owner } = fixture();
  const project = await newProject(fixture());
  const path = `/projects/${project.id}/tag-bindings`;
  const first = await owner.api.patch(path, {
    data: [binding("zone", "b"), binding("app", "web")],
  });
  expect(first.status).toBe(200);
  expect(pairs(first.body.data)).toEqual(["zone=b", "app=web"]);
  await owner.api.patch(path, { data: [binding("zone", "c"), binding("flat")] });
  const listed = await owner.api.get(path);
  expect(listed.status).toBe(200);
  expect(pairs(listed.body.data)).toEqual(["app=web", "flat=", "zone=c"]);
  expect(listed.body.data[0].type).toBe("tag-bindings");
  const effective = await owner.api.get(`/projects/${project.id}/effective-tag-bindings`);
  expect(effective.status).toBe(200);
  expect(pairs(effective.body.data)).toEqual(["app=web", "flat=", "zone=c"]);
  expect(effective.body.data[0]).toMatchObject({ type: "effective-tag-bindings" });
  const workspace = await newWorkspace(fixture(), {}, project.id);
  const inherited = await owner.api.get(`/workspaces/${workspace.id}/effective-tag-bindings`);
  expect(pairs(inherited.body.data)).toEqual(["app=web", "flat=", "zone=c"]);
  const replaced = await owner.api.patch(
    `/projects/${project.id}`,
    input({}, { "tag-bindings": { data: [binding("only", "1")] } }),
  );
  expect(replaced.status).toBe(200);
  expect(pairs((await owner.api.get(path)).body.data)).toEqual(["only=1"]);
  const many = Array.from({ length: 10 }, (_, index) => binding(`key-${index}`, "1"));
  const tooMany = await owner.api.patch(path, { data: many });
  expect(tooMany.status).toBe(422);
  expect(problems(tooMany)).toEqual({ "/data": "Tag bindings are too many (maximum is 10)" });
});

test("the list can be filtered by bindings: by key, by value, by several", async () => {
  proves("Projects/list: filter[tagged]");
  const { owner } = fixture();
  const organization = await newOrganization(owner.api);
  const path = `/organizations/${organization}/projects`;
  const tagged = async (name: string, ...data: unknown[]) =>
    owner.api.post(path, input({ name }, { "tag-bindings": { data } }));
  await tagged("one", binding("zone", "a"), binding("app", "web"));
  await tagged("two", binding("zone", "b"), binding("app", "web"));
  await tagged("three", binding("zone", "a"));
  await tagged("four");
  const names = async (query: string) => namesOf(await owner.api.get(`${path}?${query}`));
  expect(await names("filter[tagged][0][key]=zone")).toEqual(["one", "three", "two"]);
  expect(await names("filter[tagged][0][key]=zone&filter[tagged][0][value]=")).toHaveLength(3);
  expect(await names("filter[tagged][0][key]=zone&filter[tagged][0][value]=a")).toEqual([
    "one",
    "three",
  ]);
  expect(await names("filter[tagged][0][value]=web")).toEqual(["one", "two"]);
  expect(
    await names(
      "filter[tagged][0][key]=app&filter[tagged][1][key]=zone&filter[tagged][1][value]=b",
    ),
  ).toEqual(["two"]);
  expect(await names("filter[tagged][0][key]=nothing")).toEqual([]);
  const permitted = "filter[permissions][update]=true";
  expect(await names(`${permitted}&filter[permissions][create-workspace]=false`)).toHaveLength(5);
  const both = await owner.api.get(
    `${path}?${permitted}&filter[permissions][create-workspace]=true`,
  );
  expect(both.status).toBe(400);
  expect(both.body.errors[0].detail).toBe("filter[permissions] can be true for one action only.");
});

test("a project with workspaces and the default project cannot be deleted, an empty one can", async () => {
  proves("Projects/refused while it has workspaces, the default one never");
  const { owner, organization } = fixture();
  const project = await newProject(fixture());
  const self = `/projects/${project.id}`;
  const workspace = await newWorkspace(fixture(), {}, project.id);
  expect((await owner.api.delete(self)).status).toBe(409);
  expect((await owner.api.delete(`/workspaces/${workspace.id}`)).status).toBe(204);
  expect((await owner.api.delete(self)).status).toBe(204);
  expect((await owner.api.get(self)).status).toBe(404);
  expect((await owner.api.delete(self)).status).toBe(404);
  const { body } = await owner.api.get(`/organizations/${organization}`);
  const { id } = body.data.relationships["default-project"].data;
  const refused = await owner.api.delete(`/projects/${id}`);
  expect(refused.status).toBe(409);
  expect(refused.body.errors[0].detail).toContain("default project");
});

test("a deletion that races with new workspaces never leaves both", async () => {
  proves("Projects/refused while it has workspaces, the default one never");
  const { owner, organization } = fixture();
  for (let round = 0; round < 5; round++) {
    const project = await newProject(fixture());
    const create = () =>
      owner.api.post(
        `/organizations/${organization}/workspaces`,
        document(
          "workspaces",
          { name: unusedName("race") },
          { project: { data: { type: "projects", id: project.id } } },
        ),
      );
    const [deleted, ...created] = await Promise.all([
      owner.api.delete(`/projects/${project.id}`),
      create(),
      create(),
    ]);
    const statuses = created.map(({ status }) => status);
    expect([204, 409]).toContain(deleted?.status);
    if (deleted?.status === 204) expect(statuses).toEqual([404, 404]);
    else expect(statuses).toContain(201);
  }
});

test("callers who may not change or not read a project get 404", async () => {
  const { reader, outsider, readable } = fixture();
  const self = `/projects/${readable.id}`;
  expect((await reader.api.get(`${self}/tag-bindings`)).status).toBe(200);
  for (const { api } of [reader, outsider]) {
    expect((await api.patch(self, input({}))).status).toBe(404);
    expect((await api.delete(self)).status).toBe(404);
    expect((await api.patch(`${self}/tag-bindings`, { data: [] })).status).toBe(404);
  }
  expect((await outsider.api.get(`${self}/tag-bindings`)).status).toBe(404);
  expect((await outsider.api.get(`${self}/effective-tag-bindings`)).status).toBe(404);
});

describe("auto-destroy-activity-duration of a project", () => {
  const FORMAT =
    "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')";
  const pointer = "/data/attributes/auto-destroy-activity-duration";
  const HOUR = 3_600_000;

  async function projectWith(duration: string | null) {
    const { owner, organization } = fixture();
    const { body } = await expectStatus(
      201,
      owner.api.post(
        `/organizations/${organization}/projects`,
        document("projects", {
          name: unusedName("project"),
          "auto-destroy-activity-duration": duration,
        }),
      ),
    );
    return body.data;
  }
  const change = (id: string, attributes: Record<string, unknown>) =>
    fixture().owner.api.patch(`/projects/${id}`, document("projects", attributes));

  test("is kept, shown, changed, and removed by null", async () => {
    const { id, attributes } = await projectWith("3d");
    expect(attributes["auto-destroy-activity-duration"]).toBe("3d");
    const shown = async () =>
      (await fixture().owner.api.get(`/projects/${id}`)).body.data.attributes[
        "auto-destroy-activity-duration"
      ];
    await change(id, { description: "kept" });
    expect(await shown()).toBe("3d");
    await change(id, { "auto-destroy-activity-duration": "6h" });
    expect(await shown()).toBe("6h");
    await change(id, { "auto-destroy-activity-duration": null });
    expect(await shown()).toBeNull();
    expect((await projectWith(null)).attributes["auto-destroy-activity-duration"]).toBeNull();
  });

  test("is refused in a wrong format, before a name that is taken", async () => {
    const { owner, organization } = fixture();
    const { attributes } = await projectWith(null);
    for (const duration of ["0d", "x", "12345h", "1w"]) {
      const refused = await owner.api.post(
        `/organizations/${organization}/projects`,
        document("projects", {
          name: attributes.name,
          "auto-destroy-activity-duration": duration,
        }),
      );
      expect(refused.status).toBe(422);
      expect(refused.body.errors).toMatchObject([
        { detail: FORMAT, source: { pointer } },
        { detail: "Name has already been taken" },
      ]);
    }
  });

  test("applies to workspaces that inherit it: they show it, and their auto-destroy time follows from it", async () => {
    const { owner } = fixture();
    const { id } = await projectWith("2d");
    const before = Date.now();
    const workspace = await newWorkspace(fixture(), {}, id);
    const shown = async (workspaceId: string = workspace.id) => {
      const { body } = await owner.api.get(`/workspaces/${workspaceId}`);
      const { attributes } = body.data;
      const at = attributes["auto-destroy-at"];
      return {
        duration: attributes["auto-destroy-activity-duration"],
        inherits: attributes["inherits-project-auto-destroy"],
        hours: at && Math.round((Date.parse(at) - before) / HOUR),
      };
    };
    expect(await shown()).toEqual({ duration: "2d", inherits: true, hours: 48 });
    await change(id, { "auto-destroy-activity-duration": "5h" });
    expect(await shown()).toEqual({ duration: "5h", inherits: true, hours: 5 });

    // A state version counts as activity, after which the duration starts again.
    const { stack } = fixture();
    await stack.rows(
      "workspaces",
      "update workspaces set auto_destroy_at = now() + interval '1 hour' where id = $1",
      [workspace.id],
    );
    await writeState(owner.api, workspace.id, stateFile());
    await waitFor(async () => (await shown()).hours === 5);

    // A workspace with its own settings stops inheriting; when they are removed, it inherits again.
    const set = (attributes: Record<string, unknown>) =>
      expectStatus(
        200,
        owner.api.patch(`/workspaces/${workspace.id}`, document("workspaces", attributes)),
      );
    await set({ "auto-destroy-activity-duration": "9h" });
    expect(await shown()).toEqual({ duration: "9h", inherits: false, hours: 9 });
    await change(id, { "auto-destroy-activity-duration": "7h" });
    expect(await shown()).toEqual({ duration: "9h", inherits: false, hours: 9 });
    await set({ "auto-destroy-activity-duration": null });
    expect(await shown()).toEqual({ duration: "7h", inherits: true, hours: 7 });
    await set({ "inherits-project-auto-destroy": false });
    expect(await shown()).toEqual({ duration: null, inherits: false, hours: null });

    // A workspace that is moved inherits the settings of its new project.
    const moved = await newWorkspace(fixture(), {}, id);
    const other = await projectWith("3h");
    await owner.api.patch(
      `/workspaces/${moved.id}`,
      document("workspaces", {}, { project: { data: { type: "projects", id: other.id } } }),
    );
    expect(await shown(moved.id)).toEqual({ duration: "3h", inherits: true, hours: 3 });
    await change(other.id, { "auto-destroy-activity-duration": null });
    expect(await shown(moved.id)).toEqual({ duration: null, inherits: true, hours: null });
  });
});
