import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { inlineState, stateFile } from "../stack/state.ts";
import { errorDetails, newLockedWorkspace, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const boolean = expect.any(Boolean);
const text = expect.any(String);

test("the document has every attribute that clients read, with the right type", async () => {
  proves(
    "Versioning/2024-08-16",
    "Workspace run attributes/tag-names, resource-count, updated-at, locked",
    "Documents/permissions with every key",
  );
  const { attributes } = await newWorkspace(fixture(), {
    description: "a",
    "working-directory": "b",
  });
  expect(attributes).toMatchObject({
    actions: { "is-destroyable": boolean },
    "allow-destroy-plan": boolean,
    "apply-duration-average": null,
    "auto-apply": boolean,
    "auto-apply-run-trigger": boolean,
    "auto-destroy-activity-duration": null,
    "auto-destroy-at": null,
    "created-at": timestamp,
    description: text,
    "engine-version": text,
    environment: "default",
    "execution-mode": text,
    "file-triggers-enabled": boolean,
    "global-remote-state": boolean,
    "latest-change-at": timestamp,
    locked: boolean,
    "locked-reason": text,
    "locked-since": null,
    "locked-stale": null,
    name: text,
    operations: boolean,
    "plan-duration-average": null,
    "policy-check-failures": null,
    "queue-all-runs": boolean,
    "resource-count": expect.any(Number),
    "run-failures": null,
    "setting-overwrites": { "execution-mode": boolean, "agent-pool": boolean },
    source: text,
    "source-name": null,
    "source-url": null,
    "speculative-enabled": boolean,
    "structured-run-output-enabled": boolean,
    "tag-names": [],
    "terraform-version": text,
    "trigger-patterns": [],
    "trigger-prefixes": [],
    "updated-at": timestamp,
    "vcs-repo": null,
    "vcs-repo-identifier": null,
    "working-directory": text,
    "workspace-kpis-run-count": null,
    "workspace-kpis-runs-count": null,
  });
  // Only the hosted edition returns this attribute.
  expect(attributes).not.toHaveProperty("assessments-enabled");
});

test("permissions has every key, with true or false", async () => {
  proves("Documents/permissions with every key");
  const { attributes } = await newWorkspace(fixture());
  const keys = [
    "can-update",
    "can-destroy",
    "can-queue-destroy",
    "can-queue-run",
    "can-queue-apply",
    "can-read-run",
    "can-read-variable",
    "can-update-variable",
    "can-read-state-versions",
    "can-read-state-outputs",
    "can-create-state-versions",
    "can-lock",
    "can-unlock",
    "can-force-unlock",
    "can-read-settings",
    "can-manage-tags",
    "can-manage-run-tasks",
    "can-force-delete",
    "can-manage-assessments",
    "can-read-assessment-results",
  ];
  for (const key of keys) expect(attributes.permissions[key], key).toBeTypeOf("boolean");
  expect(attributes.permissions["can-force-delete"]).toBe(true);
});

test("the permissions of a reader show what the reader may do", async () => {
  const { reader, readable } = fixture();
  const { id } = await newWorkspace(fixture(), {}, readable.id);
  const { body } = await reader.api.get(`/workspaces/${id}`);
  expect(body.data.attributes.permissions).toMatchObject({
    "can-update": false,
    "can-destroy": false,
    "can-force-delete": false,
    "can-lock": false,
    "can-force-unlock": false,
    "can-create-state-versions": false,
    "can-queue-apply": false,
    "can-read-state-versions": true,
    "can-read-state-outputs": true,
    "can-read-run": true,
    "can-read-settings": true,
  });
});

test("relationships and links are those that clients follow", async () => {
  proves("Documents/permissions with every key");
  const { organization } = fixture();
  const { id, type, attributes, relationships, links } = await newWorkspace(fixture());
  expect(type).toBe("workspaces");
  expect(id).toMatch(/^ws-[A-Za-z0-9]{16}$/);
  expect(relationships).toMatchObject({
    organization: { data: { id: organization, type: "organizations" } },
    project: { data: { id: expect.stringMatching(/^prj-/), type: "projects" } },
    "locked-by": { data: null },
    "current-run": { data: null },
    "latest-run": { data: null },
    "current-state-version": { data: null },
    "current-configuration-version": { data: null },
    "agent-pool": { data: null },
    "ssh-key": { data: null },
    readme: { data: null },
    "data-retention-policy": { data: null },
    outputs: expect.anything(),
    "remote-state-consumers": { links: { related: text } },
    "tag-bindings": { links: { related: `/api/v2/workspaces/${id}/tag-bindings` } },
    "effective-tag-bindings": {
      links: { related: `/api/v2/workspaces/${id}/effective-tag-bindings` },
    },
  });
  expect(links).toEqual({
    self: `/api/v2/organizations/${organization}/workspaces/${attributes.name}`,
    "self-html": `/app/${organization}/workspaces/${attributes.name}`,
  });
});

describe("included resources", () => {
  test("are those requested, each once", async () => {
    proves("Workspace includes/outputs");
    const { owner, organization } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const state = stateFile({ outputs: { text: { value: "a", type: "string" } } });
    const encoded = Buffer.from('{"text":{"value":"a","type":"string"}}').toString("base64");
    const created = await owner.api.post(
      `/workspaces/${id}/state-versions`,
      inlineState(state, { "json-state-outputs": encoded }),
    );
    expect(created.status).toBe(201);
    const names = "locked_by,organization,project,outputs";
    for (const include of [names, names.replace("_", "-")]) {
      const { status, body } = await owner.api.get(`/workspaces/${id}?include=${include}`);
      expect(status).toBe(200);
      const types = body.included.map(({ type }: { type: string }) => type).toSorted();
      expect(types).toEqual(["organizations", "projects", "users", "workspace-outputs"]);
      const byType = Object.fromEntries(
        body.included.map((resource: { type: string }) => [resource.type, resource]),
      );
      expect(byType.users).toMatchObject({
        id: owner.id,
        attributes: { username: owner.username },
      });
      expect(byType.users.attributes).not.toHaveProperty("email");
      expect(byType.organizations.id).toBe(organization);
      expect(byType.projects.id).toBe(body.data.relationships.project.data.id);
      expect(byType["workspace-outputs"].attributes).toMatchObject({
        name: "text",
        "output-type": "string",
        value: "a",
      });
      expect(body.data.relationships.outputs.data).toEqual([
        { id: byType["workspace-outputs"].id, type: "workspace-outputs" },
      ]);
      expect(body.data.relationships["locked-by"].data).toEqual({ id: owner.id, type: "users" });
    }
  });

  test("of a list contain each resource once for all rows", async () => {
    const { owner, organization } = fixture();
    await newWorkspace(fixture());
    await newWorkspace(fixture());
    const { body } = await owner.api.get(
      `/organizations/${organization}/workspaces?include=organization,project`,
    );
    expect(body.data.length).toBeGreaterThan(1);
    const names = body.included.map(({ type, id }: { type: string; id: string }) => type + id);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name: string) => name.startsWith("organizations"))).toHaveLength(1);
  });

  test("are absent if not requested, and an unknown name is refused", async () => {
    const { owner, organization } = fixture();
    const { id, attributes } = await newWorkspace(fixture());
    const byName = `/organizations/${organization}/workspaces/${attributes.name}`;
    for (const path of [`/workspaces/${id}`, byName, `/organizations/${organization}/workspaces`]) {
      expect((await owner.api.get(path)).body).not.toHaveProperty("included");
      const refused = await owner.api.get(`${path}?include=nothing`);
      expect(refused.status).toBe(400);
      expect(errorDetails(refused)[0]).toContain("include parameter");
    }
  });
});
