import { workspaceNoun } from "@statehouse/gateway/workspace/attributes-resource";
import { waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { type Published, published } from "../stack/published.ts";
import { expectStatus } from "../stack/state.ts";
import { newProject, newUser, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();
let bus: Published;
beforeAll(() => {
  bus = published(fixture().stack.nats);
});
afterAll(() => bus[Symbol.asyncDispose]());

/** Returns the changed attributes of each update of the object, in order. */
const changesOf = (field: string, id: string, count: number, type: string) =>
  waitFor(() => {
    const found = bus.about(field, id, `${type}.v1`);
    return found.length === count && found.map(({ json }) => JSON.parse(json).changedAttributes);
  });

/** A new value for each attribute that can be changed alone. */
const changes: Record<string, unknown> = {
  name: unusedName("renamed"),
  description: "changed",
  "allow-destroy-plan": false,
  "auto-apply": true,
  "auto-apply-run-trigger": true,
  "auto-destroy-at": "2099-01-01T00:00:00Z",
  "execution-mode": "remote",
  "file-triggers-enabled": false,
  "global-remote-state": true,
  "project-remote-state": true,
  "queue-all-runs": true,
  "speculative-enabled": false,
  "structured-run-output-enabled": false,
  "engine-version": "1.5.7",
  "trigger-prefixes": ["/modules"],
  "working-directory": "/live",
};

test("an update of a workspace names the attributes that it changed, and no other", async () => {
  const { owner } = fixture();
  for (const [name, value] of Object.entries(changes)) {
    const { id } = await newWorkspace(fixture());
    const patch = () =>
      expectStatus(
        200,
        owner.api.patch(`/workspaces/${id}`, document("workspaces", { [name]: value })),
      );
    const show = async () => (await owner.api.get(`/workspaces/${id}`)).body.data.attributes;
    const before = await show();
    await patch();
    const after = await show();
    await patch();
    // A change of one attribute may also change other attributes.
    const different = Object.keys(workspaceNoun.attributes).filter(
      (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
    );
    expect(different, name).toContain(name);
    const [first, repeated] = await changesOf("workspaceId", id, 2, "workspace.updated");
    expect(first, name).toContain(name);
    expect(different, name).toEqual(expect.arrayContaining(first));
    expect(repeated, name).toBeUndefined();
  }
});

test("updates name changed relationships, and attributes of other nouns", async () => {
  const { owner, organization } = fixture();
  const { id } = await newWorkspace(fixture());
  const project = await newProject(fixture());
  const bindings = (key: string) => ({
    data: [{ type: "tag-bindings", attributes: { key, value: "v" } }],
  });
  await expectStatus(200, owner.api.patch(`/workspaces/${id}/tag-bindings`, bindings("one")));
  await expectStatus(200, owner.api.patch(`/workspaces/${id}/tag-bindings`, bindings("one")));
  await expectStatus(
    200,
    owner.api.patch(`/workspaces/${id}`, {
      data: {
        type: "workspaces",
        relationships: { project: { data: { type: "projects", id: project.id } } },
      },
    }),
  );
  expect(await changesOf("workspaceId", id, 3, "workspace.updated")).toEqual([
    ["tag-bindings"],
    undefined,
    ["project"],
  ]);

  const path = `/projects/${project.id}`;
  await expectStatus(200, owner.api.patch(path, document("projects", { description: "new" })));
  expect(await changesOf("projectId", project.id, 1, "project.updated")).toEqual([["description"]]);

  const key = await owner.api.post(
    `/organizations/${organization}/ssh-keys`,
    document("ssh-keys", { name: "a", value: "secret-key" }),
  );
  const keyPath = `/ssh-keys/${key.body.data.id}`;
  await expectStatus(200, owner.api.patch(keyPath, document("ssh-keys", { name: "b" })));
  expect(await changesOf("sshKeyId", key.body.data.id, 1, "ssh-key.updated")).toEqual([["name"]]);

  const person = await newUser(fixture().stack);
  await expectStatus(
    200,
    person.api.patch("/account/update", document("users", { username: unusedName("person") })),
  );
  expect(await changesOf("userId", person.id, 1, "user.updated")).toEqual([["username"]]);
});

test("workspaces that inherit a project's new auto-destroy duration are updated with it", async () => {
  const { owner } = fixture();
  const project = await newProject(fixture());
  const inheriting = await newWorkspace(fixture(), {}, project.id);
  const own = { "auto-destroy-activity-duration": "3d" };
  const other = await newWorkspace(fixture(), own, project.id);
  const show = async (id: string) =>
    (await owner.api.get(`/workspaces/${id}`)).body.data.attributes;
  const before = await show(inheriting.id);
  const duration = { "auto-destroy-activity-duration": "14d" };
  await expectStatus(
    200,
    owner.api.patch(`/projects/${project.id}`, document("projects", duration)),
  );
  expect(await changesOf("workspaceId", inheriting.id, 1, "workspace.updated")).toEqual([
    ["auto-destroy-activity-duration", "auto-destroy-at"],
  ]);
  const after = await show(inheriting.id);
  expect(after).toMatchObject(duration);
  expect(Date.parse(after["updated-at"])).toBeGreaterThan(Date.parse(before["updated-at"]));
  await expectStatus(
    200,
    owner.api.patch(`/workspaces/${other.id}`, document("workspaces", { description: "new" })),
  );
  expect(await changesOf("workspaceId", other.id, 1, "workspace.updated")).toEqual([
    ["description"],
  ]);
});

test("an update names tag-bindings if a flat tag becomes a binding without a value", async () => {
  const { owner } = fixture();
  const { id } = await newWorkspace(fixture());
  await expectStatus(
    204,
    owner.api.post(`/workspaces/${id}/relationships/tags`, {
      data: [{ type: "tags", attributes: { name: "flat" } }],
    }),
  );
  await expectStatus(
    200,
    owner.api.patch(`/workspaces/${id}/tag-bindings`, {
      data: [{ type: "tag-bindings", attributes: { key: "flat", value: "" } }],
    }),
  );
  expect(await changesOf("workspaceId", id, 2, "workspace.updated")).toEqual([
    ["tag-bindings"],
    ["tag-bindings"],
  ]);
});
