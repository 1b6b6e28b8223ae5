import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { expectStatus } from "../stack/state.ts";
import { projectAccess } from "../stack/team-access.ts";
import { newProject, newTeam, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();

const into = (id: unknown) => ({ project: { data: { type: "projects", id } } });
const projectOf = async (id: string) =>
  (await fixture().owner.api.get(`/workspaces/${id}`)).body.data.relationships.project.data.id;

test.each([
  ["both", ["admin", "admin"], 200],
  ["the source only", ["admin", "maintain"], 404],
  ["the destination only", ["maintain", "admin"], 404],
  ["the source, and read access to the destination", ["admin", "read"], 404],
] as const)("moving requires the right in both projects: %s", async (_, levels, status) => {
  proves("Workspace/relationships.project");
  const { owner } = fixture();
  const [source, destination] = [await newProject(fixture()), await newProject(fixture())];
  const { id: teamId, member } = await newTeam(fixture());
  for (const [index, { id }] of [source, destination].entries()) {
    const access = projectAccess(teamId, id, { access: levels[index] });
    await expectStatus(200, owner.api.post("/team-projects", access));
  }
  const { id } = await newWorkspace(fixture(), {}, source.id);
  const moved = await member.api.patch(
    `/workspaces/${id}`,
    document("workspaces", { description: "moved" }, into(destination.id)),
  );
  expect(moved.status).toBe(status);
  expect(await projectOf(id)).toBe(status === 200 ? destination.id : source.id);
  const { body } = await owner.api.get(`/workspaces/${id}`);
  expect(body.data.attributes.description).toBe(status === 200 ? "moved" : null);
});

test("a custom right to move allows moving and nothing else", async () => {
  const { owner } = fixture();
  const [source, destination] = [await newProject(fixture()), await newProject(fixture())];
  const { id: teamId, member } = await newTeam(fixture());
  const custom = { access: "custom", "workspace-access": { move: true } };
  for (const { id } of [source, destination]) {
    const access = projectAccess(teamId, id, custom);
    await expectStatus(200, owner.api.post("/team-projects", access));
  }
  const { id } = await newWorkspace(fixture(), {}, source.id);
  const path = `/workspaces/${id}`;
  const both = document("workspaces", { description: "changed" }, into(destination.id));
  expect((await member.api.patch(path, both)).status).toBe(404);
  expect(await projectOf(id)).toBe(source.id);
  const moved = await member.api.patch(path, document("workspaces", {}, into(destination.id)));
  expect(moved.status).toBe(200);
  expect(await projectOf(id)).toBe(destination.id);
});

test("a blank project, the same project and no project do not move the workspace", async () => {
  proves("Workspace/relationships.project");
  const { owner } = fixture();
  const project = await newProject(fixture());
  const { id } = await newWorkspace(fixture(), {}, project.id);
  const moves = [into(""), into(project.id), into(null), { project: { data: null } }, {}];
  for (const relationships of moves) {
    const body = document("workspaces", {}, relationships);
    await expectStatus(200, owner.api.patch(`/workspaces/${id}`, body));
    expect(await projectOf(id)).toBe(project.id);
  }
});

test("a moved workspace keeps its contents and inherits from the new project", async () => {
  const { owner } = fixture();
  const [source, destination] = [await newProject(fixture()), await newProject(fixture())];
  const binding = (key: string) => ({
    data: [{ type: "tag-bindings", attributes: { key, value: "v" } }],
  });
  await expectStatus(200, owner.api.patch(`/projects/${source.id}/tag-bindings`, binding("old")));
  await expectStatus(
    200,
    owner.api.patch(`/projects/${destination.id}/tag-bindings`, binding("new")),
  );
  const mode = document("projects", { "default-execution-mode": "remote" });
  await expectStatus(200, owner.api.patch(`/projects/${destination.id}`, mode));
  const { id, attributes } = await newWorkspace(fixture(), {}, source.id);
  expect(attributes["execution-mode"]).toBe("local");
  const path = `/workspaces/${id}`;
  await expectStatus(200, owner.api.patch(`${path}/tag-bindings`, binding("own")));
  await expectStatus(200, owner.api.patch(path, document("workspaces", {}, into(destination.id))));
  const { body } = await owner.api.get(`${path}/effective-tag-bindings`);
  const keys = body.data.map(({ attributes }: { attributes: { key: string } }) => attributes.key);
  expect(keys).toEqual(["new", "own"]);
  const shown = await owner.api.get(path);
  expect(shown.body.data.attributes["execution-mode"]).toBe("remote");
});

test("POST projects/:id/relationships/workspaces moves all of the workspaces, or none", async () => {
  const { owner, outsider } = fixture();
  const [source, destination] = [await newProject(fixture()), await newProject(fixture())];
  const { id: teamId, member } = await newTeam(fixture());
  for (const { id } of [source, destination]) {
    const access = projectAccess(teamId, id, { access: "admin" });
    await expectStatus(200, owner.api.post("/team-projects", access));
  }
  const [one, other, outside] = [
    await newWorkspace(fixture(), {}, source.id),
    await newWorkspace(fixture(), {}, source.id),
    await newWorkspace(fixture()),
  ];
  const path = `/projects/${destination.id}/relationships/workspaces`;
  const linkages = (...ids: string[]) => ({ data: ids.map((id) => ({ type: "workspaces", id })) });
  // The member is not allowed to move a workspace that is outside the source project.
  const refused = await member.api.post(path, linkages(one.id, other.id, outside.id));
  expect(refused.status).toBe(404);
  expect(await projectOf(one.id)).toBe(source.id);
  expect((await member.api.post(path, linkages(one.id, other.id))).status).toBe(204);
  expect(await projectOf(one.id)).toBe(destination.id);
  expect(await projectOf(other.id)).toBe(destination.id);
  // Repeating the move changes nothing.
  expect((await member.api.post(path, linkages(other.id))).status).toBe(204);

  const unknown = await owner.api.post(path, linkages(outside.id, "ws-0000000000000000"));
  expect(unknown.status).toBe(404);
  expect(await projectOf(outside.id)).not.toBe(destination.id);
  expect((await owner.api.post(path, { data: [{ type: "runs", id: one.id }] })).status).toBe(422);
  expect((await outsider.api.post(path, linkages())).status).toBe(404);
});
