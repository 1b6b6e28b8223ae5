import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();

interface Attribute {
  /** The value in a new workspace whose create request does not contain the attribute. */
  initially: unknown;
  /** The value to create with, and the value to update to. */
  values: readonly [unknown, unknown];
  /** Values of wrong types and values that violate a rule, each with the problem that is reported. */
  refused: readonly (readonly [unknown, string])[];
}

const boolean = (name: string, initially: boolean): Attribute => ({
  initially,
  values: [!initially, initially],
  refused: [
    ["true", `${name} must be true or false`],
    [1, `${name} must be true or false`],
  ],
});
const text = (name: string, initially: unknown, most?: number): Attribute => ({
  initially,
  values: ["one", "another"],
  refused: [
    [3, `${name} must be a string`],
    [["a"], `${name} must be a string`],
    ...(most === undefined
      ? []
      : [["x".repeat(most + 1), `${name} is too long (maximum is ${most} characters)`] as const]),
  ],
});
const list = (name: string): Attribute => ({
  initially: [],
  values: [["/a", "/b/**"], ["c"]],
  refused: [
    ["a", `${name} must be a list`],
    [Array(101).fill("a"), `${name} has too many entries (maximum is 100)`],
    [["x".repeat(1025)], `${name} is too long (maximum is 1024 characters)`],
  ],
});
const durationText =
  "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')";

/**
 * The specification's table of attributes that create and update accept, except attributes that have their own test
 * files.
 */
const attributes: Record<string, Attribute> = {
  name: {
    initially: expect.any(String),
    values: [unusedName("a"), unusedName("B_c-9")],
    refused: [
      [3, "Name must be a string"],
      ["", "Name can't be blank"],
      ["a b", "Name is invalid"],
      ["a/b", "Name is invalid"],
      ["ä", "Name is invalid"],
      ["x".repeat(91), "Name is too long (maximum is 90 characters)"],
    ],
  },
  "allow-destroy-plan": boolean("Allow destroy plan", true),
  "auto-apply": boolean("Auto apply", false),
  "auto-apply-run-trigger": boolean("Auto apply run trigger", false),
  "auto-destroy-at": {
    initially: null,
    values: ["2031-02-03T04:05:06.000Z", "2032-02-29T00:00:00.000Z"],
    refused: [
      [3, "Auto destroy at must be a string"],
      ["", "Auto destroy at is invalid"],
      ["tomorrow", "Auto destroy at is invalid"],
      ["2031-02-29T00:00:00Z", "Auto destroy at is invalid"],
      ["0000-01-01T00:00:00Z", "Auto destroy at is invalid"],
    ],
  },
  "auto-destroy-activity-duration": {
    initially: null,
    values: ["9999d", "1h"],
    refused: [
      [3, "Auto destroy activity duration must be a string"],
      ["0d", durationText],
      ["10000h", durationText],
      ["1w", durationText],
      ["d", durationText],
    ],
  },
  description: text("Description", null, 4096),
  "execution-mode": {
    initially: "local",
    values: ["remote", "local"],
    refused: [
      [true, "Execution mode must be a string"],
      ["cloud", "Execution mode is invalid"],
    ],
  },
  "file-triggers-enabled": boolean("File triggers enabled", true),
  "global-remote-state": boolean("Global remote state", false),
  operations: boolean("Operations", false),
  "queue-all-runs": boolean("Queue all runs", false),
  "inherits-project-auto-destroy": boolean("Inherits project auto destroy", true),
  "speculative-enabled": boolean("Speculative enabled", true),
  "engine-version": {
    initially: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    values: ["~> 1.0.0", "1.2.3"],
    refused: [
      [1, "Engine version must be a string"],
      ["newest", "Engine version is invalid"],
    ],
  },
  "trigger-patterns": list("Trigger patterns"),
  "trigger-prefixes": list("Trigger prefixes"),
  "working-directory": text("Working directory", null, 1024),
};

/** Attributes that are accepted only at creation. */
const atCreation: Record<string, Attribute> = {
  "source-name": text("Source name", null, 255),
  "source-url": text("Source url", null, 2048),
};

const pointer = (name: string) => `/data/attributes/${name}`;
const create = (settings: Record<string, unknown>) =>
  fixture().owner.api.post(
    `/organizations/${fixture().organization}/workspaces`,
    document("workspaces", { name: unusedName("workspace"), ...settings }),
  );
const update = (id: string, settings: Record<string, unknown>) =>
  fixture().owner.api.patch(`/workspaces/${id}`, document("workspaces", settings));

/** Returns the specification's row for an attribute. */
const rowOf = (name: string): string => `Workspace/${rows[name] ?? name}`;
const rows: Record<string, string> = {
  name: "name: required",
  "source-name": "source-name, source-url",
  "source-url": "source-name, source-url",
};

describe.each(Object.entries({ ...attributes, ...atCreation }))("%s", (name, attribute) => {
  const [first] = attribute.values;

  test("has its default if creation omits it", async () => {
    proves(rowOf(name));
    const { attributes } = await newWorkspace(fixture());
    expect(attributes[name]).toEqual(attribute.initially);
  });

  test("has the value given on creation", async () => {
    proves(rowOf(name));
    const created = await create({ [name]: first });
    expect(created.status).toBe(201);
    expect(created.body.data.attributes[name]).toEqual(first);
  });

  test("of another type or against a rule is refused with a text that names it, and changes nothing", async () => {
    proves(rowOf(name));
    const workspace = await newWorkspace(fixture());
    for (const [value, problem] of attribute.refused) {
      const created = await create({ [name]: value });
      expect(created.status).toBe(422);
      expect(problems(created)).toEqual({ [pointer(name)]: problem });
      if (name in atCreation) continue;
      const updated = await update(workspace.id, { [name]: value });
      expect(updated.status).toBe(422);
      expect(problems(updated)).toEqual({ [pointer(name)]: problem });
    }
    const shown = await fixture().owner.api.get(`/workspaces/${workspace.id}`);
    expect(shown.body.data).toEqual(workspace);
  });
});

describe.each(Object.entries(attributes))("%s", (name, { values: [, second] }) => {
  test("is changed by an update by id and by name, and kept by one that omits it", async () => {
    proves(rowOf(name), "Workspace/on update everything is", "Versioning/2023-10-31");
    const { api } = fixture().owner;
    const one = await newWorkspace(fixture());
    const changed = await update(one.id, { [name]: second });
    expect(changed.status).toBe(200);
    expect(changed.body.data.attributes[name]).toEqual(second);
    const path = `/organizations/${fixture().organization}/workspaces/${changed.body.data.attributes.name}`;
    const other = { "structured-run-output-enabled": false };
    const kept = await api.patch(path, document("workspaces", other));
    expect(kept.status).toBe(200);
    expect(kept.body.data.attributes).toMatchObject({ [name]: second, ...other });
    // Null means the same as an absent attribute, unless it removes a value.
    const nothing = await update(one.id, { [name]: null });
    expect(nothing.status).toBe(200);
    const unsets = name.startsWith("auto-destroy");
    expect(nothing.body.data.attributes[name]).toEqual(unsets ? null : second);
  });
});

test("all problems of a request are reported, including relationships", async () => {
  proves("Workspace/errors");
  const wrong = {
    name: "a b",
    description: "x".repeat(4097),
    "auto-destroy-at": "soon",
    "auto-destroy-activity-duration": "soon",
    "execution-mode": "cloud",
    operations: true,
    "engine-version": "newest",
    "trigger-prefixes": Array(101).fill("a"),
    "vcs-repo": { identifier: "nothing", "tags-regex": "(" },
    "global-remote-state": true,
    "project-remote-state": true,
    "assessments-enabled": true,
  };
  const bindings = { data: [{ type: "tag-bindings", attributes: { key: "hc:x", value: "a b" } }] };
  const answer = await fixture().owner.api.post(
    `/organizations/${fixture().organization}/workspaces`,
    document("workspaces", wrong, { "tag-bindings": bindings }),
  );
  expect(answer.status).toBe(422);
  const named = Object.keys(problems(answer)).toSorted();
  expect(named).toEqual(
    [
      "name",
      "description",
      "auto-destroy-at",
      "auto-destroy-activity-duration",
      "execution-mode",
      "operations",
      "engine-version",
      "trigger-prefixes",
      "vcs-repo/identifier",
      "vcs-repo/oauth-token-id",
      "vcs-repo/tags-regex",
      "project-remote-state",
      "assessments-enabled",
    ]
      .map(pointer)
      .concat([
        "/data/relationships/tag-bindings/data/0/attributes/key",
        "/data/relationships/tag-bindings/data/0/attributes/value",
      ])
      .toSorted(),
  );
});

test("wrong types and wrong values are reported together, each position once", async () => {
  proves("Workspace/errors");
  const { owner, organization } = fixture();
  const wrong = {
    name: "a b",
    description: 3,
    "auto-apply": "yes",
    "execution-mode": true,
    "engine-version": "newest",
    "vcs-repo": { identifier: 3, "tags-regex": "(" },
    "trigger-prefixes": [3, "x".repeat(1025)],
  };
  const flat = { data: ["a b", 3].map((name) => ({ type: "tags", attributes: { name } })) };
  const named = ["name", "description", "auto-apply", "execution-mode", "engine-version"]
    .concat(["vcs-repo/identifier", "vcs-repo/oauth-token-id", "vcs-repo/tags-regex"])
    .concat(["trigger-prefixes", "trigger-prefixes/0"])
    .map(pointer);
  const list = `/organizations/${organization}/workspaces`;
  const created = await owner.api.post(list, document("workspaces", wrong, { tags: flat }));
  expect(created.status).toBe(422);
  expect(Object.keys(problems(created)).toSorted()).toEqual(
    ["/data/relationships/tags/data/0/attributes/name"]
      .concat(["/data/relationships/tags/data/1/attributes/name"])
      .concat(named)
      .toSorted(),
  );
  expect(problems(created)).toMatchObject({
    [pointer("name")]: "Name is invalid",
    [pointer("execution-mode")]: "Execution mode must be a string",
  });

  const workspace = await newWorkspace(fixture());
  const binding = { type: "tag-bindings", attributes: { key: "hc:x", value: 3 } };
  const update = document("things", wrong, { "tag-bindings": { data: [binding] } });
  for (const path of [`/workspaces/${workspace.id}`, `${list}/${workspace.attributes.name}`]) {
    const updated = await owner.api.patch(path, update);
    expect(updated.status).toBe(422);
    const at = "/data/relationships/tag-bindings/data/0/attributes";
    expect(Object.keys(problems(updated)).toSorted()).toEqual(
      ["/data/type", `${at}/key`, `${at}/value`].concat(named).toSorted(),
    );
  }
  expect((await owner.api.get(`/workspaces/${workspace.id}`)).body.data).toEqual(workspace);
  // Callers that are not allowed to change the workspace receive no validation errors.
  for (const { api } of [fixture().reader, fixture().outsider]) {
    expect((await api.patch(`/workspaces/${workspace.id}`, update)).status).toBe(404);
  }
});

test("a workspace with its own auto-destroy settings stops inheriting, and inherits again without them", async () => {
  const { id } = await newWorkspace(fixture());
  const inherits = async (settings: Record<string, unknown>) => {
    const { status, body } = await update(id, settings);
    expect(status).toBe(200);
    return body.data.attributes["inherits-project-auto-destroy"];
  };
  expect(await inherits({ "auto-destroy-activity-duration": "14d" })).toBe(false);
  expect(await inherits({ description: "kept" })).toBe(false);
  const none = { "auto-destroy-activity-duration": null, "auto-destroy-at": null };
  expect(await inherits({ ...none, "inherits-project-auto-destroy": false })).toBe(false);
  expect(await inherits(none)).toBe(true);
  const own = { "auto-destroy-at": "2030-01-01T00:00:00Z", "inherits-project-auto-destroy": true };
  expect(await inherits(own)).toBe(false);
  expect(await inherits({ "auto-destroy-at": null })).toBe(true);
});

test("a workspace can have many flat tags up to a limit", async () => {
  proves("Workspace limits/ours, where the specification has none");
  const { owner, organization } = fixture();
  const { id } = await newWorkspace(fixture());
  const tags = (count: number) => ({
    data: Array.from({ length: count }, (_, index) => ({
      type: "tags",
      attributes: { name: `tag-${index}` },
    })),
  });
  const path = `/workspaces/${id}/relationships/tags`;
  const refused = await owner.api.post(path, tags(251));
  expect(refused.status).toBe(422);
  expect(problems(refused)).toEqual({ "/data": "Tags are too many (maximum is 250)" });
  expect((await owner.api.post(path, tags(250))).status).toBe(204);
  const listed = await owner.api.get(`/organizations/${organization}/tags?q=tag-249`);
  const another = await newWorkspace(fixture());
  await owner.api.post(`/workspaces/${another.id}/relationships/tags`, {
    data: [{ type: "tags", attributes: { name: "one-more" } }],
  });
  expect(listed.body.data).toHaveLength(1);
  const more = await owner.api.get(`/workspaces/${another.id}/relationships/tags`);
  const over = await owner.api.post(`/tags/${more.body.data[0].id}/relationships/workspaces`, {
    data: [{ type: "workspaces", id }],
  });
  expect(over.status).toBe(422);
});

test("too long descriptions of projects and roles of owners are refused", async () => {
  proves("Workspace limits/ours, where the specification has none");
  const { owner, organization } = fixture();
  const project = await owner.api.post(
    `/organizations/${organization}/projects`,
    document("projects", { name: unusedName("project"), description: "x".repeat(4097) }),
  );
  expect(problems(project)).toEqual({
    [pointer("description")]: "Description is too long (maximum is 4096 characters)",
  });
  const role = await owner.api.patch(
    `/organizations/${organization}`,
    document("organizations", { "owners-team-saml-role-id": "x".repeat(256) }),
  );
  expect(Object.keys(problems(role))).toEqual([pointer("owners-team-saml-role-id")]);
});
