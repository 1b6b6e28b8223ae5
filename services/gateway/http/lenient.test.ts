import { describe, expect, test } from "vitest";
import { bodyOf } from "../jsonapi/noun.ts";
import { workspaceNoun } from "../workspace/attributes-resource.ts";
import { parseBodyLeniently } from "./body.ts";

const tags = (...names: unknown[]) => ({
  tags: { data: names.map((name) => ({ type: "tags", attributes: { name } })) },
});
const createBody = bodyOf(workspaceNoun, ["name"]).body;
const parse = (data: unknown) => {
  const { body, problems } = parseBodyLeniently(createBody, { data });
  return { body, problems: problems.map(({ field, detail }) => `${field} ${detail}`) };
};

describe("lenient parsing", () => {
  test("returns a valid body unchanged", () => {
    const { body, problems } = parse({ type: "workspaces", attributes: { name: "a" } });
    expect(body).toEqual({ name: "a" });
    expect(problems).toEqual([]);
  });

  test("omits invalid members and keeps the others", () => {
    const attributes = { name: "a b", "auto-apply": "yes", description: 3, "queue-all-runs": true };
    const { body, problems } = parse({ type: "workspaces", attributes });
    expect(problems).toEqual([
      "/data/attributes/auto-apply Auto apply must be true or false",
      "/data/attributes/description Description must be a string",
    ]);
    expect(body).toEqual({ name: "a b", queueAllRuns: true });
  });

  test("a list that is too long has one problem and no items", () => {
    const { body, problems } = parse({
      type: "workspaces",
      attributes: { name: "a" },
      relationships: tags(...Array(1001).fill(3)),
    });
    expect(problems).toEqual(["/data/relationships/tags/data Data may have at most 1000 items"]);
    expect(body).toEqual({ name: "a", tagNames: { values: [] } });
  });

  test("replaces a missing or invalid required text by an empty one, and keeps positions in lists", () => {
    const relationships = tags("fine", 3);
    const { body, problems } = parse({ type: "projects", attributes: {}, relationships });
    expect(problems).toEqual([
      '/data/type Type must be "workspaces"',
      "/data/attributes/name Name is required",
      "/data/relationships/tags/data/1/attributes/name Name must be a string",
    ]);
    expect(body).toEqual({ name: "", tagNames: { values: ["fine", ""] } });
  });

  test("keeps one of two spellings that differ", () => {
    const versions = { "engine-version": "1.9.0", "terraform-version": "1.8.0" };
    const { body, problems } = parse({
      type: "workspaces",
      attributes: { name: "a", ...versions },
    });
    expect(problems).toHaveLength(1);
    expect(body).toEqual({ name: "a", engineVersion: "1.9.0" });
  });

  test.each([
    [undefined],
    ["text"],
    [[]],
    [{ type: "workspaces", relationships: tags().tags.data }],
  ])("of %j returns problems and a part that a service can validate", (data) => {
    const { body, problems } = parse(data);
    expect(problems.length).toBeGreaterThan(0);
    expect(body).toEqual({ name: "" });
  });
});
