import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { newProject, newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();
const workspaces = () => `/organizations/${fixture().organization}/workspaces`;
const create = (attributes: Record<string, unknown>, relationships?: Record<string, unknown>) =>
  fixture().owner.api.post(workspaces(), document("workspaces", attributes, relationships));
const update = (id: string, attributes: Record<string, unknown>) =>
  fixture().owner.api.patch(`/workspaces/${id}`, document("workspaces", attributes));

const everything = {
  "allow-destroy-plan": false,
  "auto-apply": true,
  "auto-apply-run-trigger": true,
  description: `Zoë's ✓ <&> "quoted" \\ workspace`,
  "execution-mode": "remote",
  "file-triggers-enabled": false,
  "global-remote-state": true,
  "queue-all-runs": true,
  "speculative-enabled": false,
  "structured-run-output-enabled": false,
  "engine-version": "~> 1.0.0",
  // The list is empty, because a workspace with trigger prefixes or without file triggers has no trigger patterns.
  "trigger-patterns": [],
  "trigger-prefixes": ["/modules/**/*", "a,b", 'c"d', "{e}", "\\f"],
  "working-directory": "infra/live",
};

test("a new workspace can be read by id and by name as created", async () => {
  proves(
    "Workspace endpoints/POST organizations/:o/workspaces",
    "Workspace endpoints/GET workspaces/:id and by name",
  );
  const { owner } = fixture();
  for (const attributes of [
    {},
    { ...everything, "source-name": "a client", "source-url": "https://client.example" },
  ]) {
    const name = unusedName("workspace");
    const created = await create({ name, ...attributes });
    expect(created.status).toBe(201);
    const { id } = created.body.data;
    const byId = await owner.api.get(`/workspaces/${id}`);
    const byName = await owner.api.get(`${workspaces()}/${name}`);
    expect(byId.status).toBe(200);
    expect(byName.status).toBe(200);
    expect(byId.body).toEqual(created.body);
    expect(byName.body).toEqual(created.body);
    expect(created.body.data.attributes).toMatchObject({ name, ...attributes });
  }
});

test("absent settings have the specification's defaults", async () => {
  proves("Workspace endpoints/POST organizations/:o/workspaces");
  const { attributes, relationships } = await newWorkspace(fixture());
  expect(attributes).toMatchObject({
    "allow-destroy-plan": true,
    "auto-apply": false,
    "auto-apply-run-trigger": false,
    description: null,
    "execution-mode": "local",
    "file-triggers-enabled": true,
    "global-remote-state": false,
    operations: false,
    "queue-all-runs": false,
    "speculative-enabled": true,
    "trigger-patterns": [],
    "trigger-prefixes": [],
    "vcs-repo": null,
    "working-directory": null,
    "tag-names": [],
    locked: false,
    "resource-count": 0,
    "setting-overwrites": { "execution-mode": false, "agent-pool": false },
  });
  const { owner, organization } = fixture();
  const { body } = await owner.api.get(`/organizations/${organization}`);
  expect(relationships.project.data).toEqual(body.data.relationships["default-project"].data);
});

test("both spellings of the engine version are accepted and shown; different values are refused", async () => {
  proves("Workspace/branded names");
  for (const spelling of ["engine-version", "terraform-version"]) {
    const { attributes } = await newWorkspace(fixture(), { [spelling]: "1.9.8" });
    expect(attributes["engine-version"]).toBe("1.9.8");
    expect(attributes["terraform-version"]).toBe("1.9.8");
  }
  const same = { "engine-version": "1.9.8", "terraform-version": "1.9.8" };
  expect((await create({ name: unusedName("same"), ...same })).status).toBe(201);
  const different = { "engine-version": "1.9.8", "terraform-version": "1.9.9" };
  const refused = await create({ name: unusedName("different"), ...different });
  expect(refused.status).toBe(422);
});

test.each(["1.11.0", "1.12.0-beta1", "~> 1.0.0", ">= 1.2, < 2.0", "latest", "1.10.99"])(
  "the version %s is stored as it was sent",
  async (version) => {
    proves("Workspace/engine-version");
    const { id } = await newWorkspace(fixture());
    const updated = await update(id, { "terraform-version": version });
    expect(updated.status).toBe(200);
    expect(updated.body.data.attributes["terraform-version"]).toBe(version);
  },
);

test("a text that is neither a version, a constraint nor latest is refused", async () => {
  proves("Workspace/engine-version");
  const { id } = await newWorkspace(fixture());
  for (const version of ["newest", "1.x", "", "~> one"]) {
    expect((await update(id, { "terraform-version": version })).status, version).toBe(422);
  }
});

test("all problems are reported with texts and pointers", async () => {
  proves("Workspace/properties without a default are required on create");
  const answer = await create({
    name: "not a name",
    "engine-version": "x",
    "execution-mode": "sometimes",
    operations: true,
  });
  expect(answer.status).toBe(422);
  const said = problems(answer);
  expect(said["/data/attributes/name"]).toBe("Name is invalid");
  expect(Object.keys(said).toSorted()).toEqual([
    "/data/attributes/engine-version",
    "/data/attributes/execution-mode",
    "/data/attributes/name",
    "/data/attributes/operations",
  ]);
  const kinds = await create({ name: 3, "auto-apply": "yes", "trigger-prefixes": "a" });
  expect(Object.keys(problems(kinds)).toSorted()).toEqual([
    "/data/attributes/auto-apply",
    "/data/attributes/name",
    "/data/attributes/trigger-prefixes",
  ]);
  expect(Object.keys(problems(await create({})))).toEqual(["/data/attributes/name"]);
});

test("the execution mode is the organization's until it is set, and again when the override is removed", async () => {
  proves("Workspace/execution-mode", "Workspace/setting-overwrites");
  const { id } = await newWorkspace(fixture(), { operations: true });
  const own = await update(id, {});
  expect(own.body.data.attributes).toMatchObject({
    "execution-mode": "remote",
    operations: true,
    "setting-overwrites": { "execution-mode": true },
  });
  const back = await update(id, { "setting-overwrites": { "execution-mode": false } });
  expect(back.body.data.attributes).toMatchObject({
    "execution-mode": "local",
    operations: false,
    "setting-overwrites": { "execution-mode": false },
  });
  const agent = await update(id, { "execution-mode": "agent" });
  expect(agent.status).toBe(422);
  expect(Object.values(problems(agent))).toEqual([
    "must be specified when using 'agent' execution mode",
  ]);
});

test("an update by id and by name changes the given settings and keeps all other settings", async () => {
  proves("Workspace/on update everything is", "Workspace endpoints/PATCH by id and by name");
  const { owner } = fixture();
  const workspace = await newWorkspace(fixture(), everything);
  const byId = await update(workspace.id, { description: "new" });
  expect(byId.status).toBe(200);
  expect(byId.body.data.attributes).toMatchObject({ ...everything, description: "new" });
  const byName = await owner.api.patch(
    `${workspaces()}/${workspace.attributes.name}`,
    document("workspaces", { "auto-apply": false, "trigger-prefixes": [] }),
  );
  expect(byName.status).toBe(200);
  expect(byName.body.data.attributes).toMatchObject({
    ...everything,
    description: "new",
    "auto-apply": false,
    "trigger-prefixes": [],
  });
  const shown = await owner.api.get(`/workspaces/${workspace.id}`);
  expect(shown.body).toEqual(byName.body);
  const { "updated-at": updated, "created-at": created } = shown.body.data.attributes;
  expect(Date.parse(updated)).toBeGreaterThan(Date.parse(created));
});

test("a new name frees the old one", async () => {
  proves("Workspace/name: required; letters, numbers");
  const { owner } = fixture();
  const { id, attributes } = await newWorkspace(fixture());
  const renamed = unusedName("renamed");
  expect((await update(id, { name: renamed })).status).toBe(200);
  expect((await owner.api.get(`${workspaces()}/${attributes.name}`)).status).toBe(404);
  expect((await owner.api.get(`${workspaces()}/${renamed}`)).body.data.id).toBe(id);
  const successor = await create({ name: attributes.name });
  expect(successor.status).toBe(201);
  expect(successor.body.data.id).not.toBe(id);
  const taken = await update(id, { name: attributes.name });
  expect(problems(taken)).toEqual({ "/data/attributes/name": "Name has already been taken" });
});

test("one of several concurrent creations with one name succeeds", async () => {
  proves("Workspace/name: unique within the");
  const name = unusedName("race");
  const answers = await Promise.all(Array.from({ length: 10 }, () => create({ name })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(422)]);
});

test("a workspace is created in a project and moved to another", async () => {
  proves("Workspace/relationships.project");
  const { owner } = fixture();
  const [one, other] = [await newProject(fixture()), await newProject(fixture())];
  const workspace = await newWorkspace(fixture(), {}, one.id);
  expect(workspace.relationships.project.data).toEqual({ id: one.id, type: "projects" });
  const moved = await owner.api.patch(
    `/workspaces/${workspace.id}`,
    document("workspaces", {}, { project: { data: { type: "projects", id: other.id } } }),
  );
  expect(moved.status).toBe(200);
  expect(moved.body.data.relationships.project.data.id).toBe(other.id);
  for (const project of ["", other.id]) {
    const kept = await owner.api.patch(
      `/workspaces/${workspace.id}`,
      document("workspaces", {}, { project: { data: { type: "projects", id: project } } }),
    );
    expect(kept.body.data.relationships.project.data.id).toBe(other.id);
  }
});

test("an unknown or foreign project is refused", async () => {
  proves("Workspace/relationships.project");
  const { outsider, owner } = fixture();
  const foreign = await newProject({ organization: outsider.organization, owner: outsider });
  const { id } = await newWorkspace(fixture());
  for (const project of ["prj-0000000000000000", foreign.id]) {
    const relationships = { project: { data: { type: "projects", id: project } } };
    const made = await create({ name: unusedName("lost") }, relationships);
    expect(made.status).toBe(404);
    const body = document("workspaces", {}, relationships);
    expect((await owner.api.patch(`/workspaces/${id}`, body)).status).toBe(404);
  }
  const nowhere = document("workspaces", { name: "abc" });
  expect((await owner.api.post("/organizations/nowhere/workspaces", nowhere)).status).toBe(404);
});

test("unknown workspaces are not found by id and by name", async () => {
  proves("Workspace endpoints/GET workspaces/:id and by name");
  const { owner } = fixture();
  const body = document("workspaces", {});
  for (const path of ["/workspaces/ws-0000000000000000", `${workspaces()}/nothing`]) {
    expect((await owner.api.get(path)).status).toBe(404);
    expect((await owner.api.patch(path, body)).status).toBe(404);
    expect((await owner.api.delete(path)).status).toBe(404);
    expect((await owner.api.post(`${path}/actions/safe-delete`)).status).toBe(404);
  }
});

test("a wrong type is also refused on update", async () => {
  proves("Workspace/data.type");
  const { attributes, id } = await newWorkspace(fixture());
  for (const path of [`/workspaces/${id}`, `${workspaces()}/${attributes.name}`]) {
    const answer = await fixture().owner.api.patch(path, document("projects", {}));
    expect(answer.status).toBe(422);
    expect(Object.keys(problems(answer))).toEqual(["/data/type"]);
  }
});
