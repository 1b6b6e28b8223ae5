import { AppError } from "@statehouse/errors";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { parseBody } from "../http/body.ts";
import { bodyOf } from "../jsonapi/noun.ts";
import { workspaceNoun } from "./attributes-resource.ts";

const createWorkspaceBody = bodyOf(workspaceNoun, ["name"]).body;
const updateWorkspaceBody = bodyOf(workspaceNoun).body;

const parse = (attributes: unknown, relationships?: unknown) =>
  parseBody(updateWorkspaceBody, { data: { type: "workspaces", attributes, relationships } });
const update = (...parts: Parameters<typeof parse>) => {
  const { unset: _, ...settings } = parse(...parts);
  return settings;
};

function problems(read: () => unknown): (string | undefined)[][] {
  try {
    read();
  } catch (error) {
    if (error instanceof AppError) return error.fields.map(({ field, detail }) => [field, detail]);
    throw error;
  }
  return [];
}

describe("the two spellings of the engine version", () => {
  test("are both accepted", () => {
    expect(update({ "terraform-version": "1.9.0" })).toEqual({ engineVersion: "1.9.0" });
    expect(update({ "engine-version": "1.9.0" })).toEqual({ engineVersion: "1.9.0" });
    expect(update({ "engine-version": "1.9.0", "terraform-version": "1.9.0" })).toEqual({
      engineVersion: "1.9.0",
    });
  });
  test("must have the same value", () => {
    expect(
      problems(() => update({ "engine-version": "1.9.0", "terraform-version": "1.8.0" })),
    ).toEqual([
      [
        "/data/attributes/terraform-version",
        "Terraform version must be the same as engine-version",
      ],
    ]);
  });
});

describe("a body", () => {
  test("may omit everything on update; null and absent mean the same", () => {
    expect(update(undefined)).toEqual({});
    expect(update({ name: null, "auto-apply": null, "vcs-repo": null }, null)).toEqual({});
  });
  test("removes settings with null", () => {
    const attributes = { "auto-destroy-at": null, description: null, "vcs-repo": null };
    expect(parse(attributes)).toEqual({ unset: ["autoDestroyAt", "vcsRepo"] });
  });
  test("keeps false, zero and empty texts", () => {
    expect(update({ "auto-apply": false, description: "" })).toEqual({
      autoApply: false,
      description: "",
    });
  });
  test("has all its problems reported together", () => {
    proves("Workspace/properties without a default are required on create");
    expect(
      problems(() =>
        parseBody(createWorkspaceBody, {
          data: { type: "workspace", attributes: { "auto-apply": "yes", "trigger-prefixes": "a" } },
        }),
      ),
    ).toEqual([
      ["/data/type", 'Type must be "workspaces"'],
      ["/data/attributes/name", "Name is required"],
      ["/data/attributes/auto-apply", "Auto apply must be true or false"],
      ["/data/attributes/trigger-prefixes", "Trigger prefixes must be a list"],
    ]);
  });
  test.each([[undefined], [null], [[]], ["x"], [3], [{ data: null }], [{ data: [] }]])(
    "that is not a document (%j) is invalid and causes no internal error",
    (body: unknown) => {
      expect(problems(() => parseBody(createWorkspaceBody, body)).length).toBeGreaterThan(0);
    },
  );
  test("contains tags as linkages without ids; unknown members are ignored", () => {
    expect(
      update(
        { junk: 1 },
        {
          project: { data: { type: "projects", id: "prj-1" } },
          tags: { data: [{ type: "tags", attributes: { name: "a" } }] },
          "tag-bindings": {
            data: [{ type: "tag-bindings", attributes: { key: "k", value: "v" } }],
          },
        },
      ),
    ).toEqual({
      projectId: "prj-1",
      tagNames: { values: ["a"] },
      tagBindings: { tagBindings: [{ key: "k", value: "v" }] },
    });
  });
});
