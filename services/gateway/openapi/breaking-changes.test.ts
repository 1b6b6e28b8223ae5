import { describe, expect, test } from "vitest";
import { routes } from "../routes.ts";
import { breakingChanges } from "./breaking-changes.ts";
import { type OpenApiDocument, openApiDocument } from "./document.ts";

const document = openApiDocument(routes);

/** Returns the document with one change: in the operations of `path`, the text `from` is replaced by `to`. */
const changed = (path: string, from: string, to: string): OpenApiDocument => {
  const operations = document.paths[path];
  const text = JSON.stringify(operations);
  expect(text).toContain(from);
  return { ...document, paths: { ...document.paths, [path]: JSON.parse(text.replace(from, to)) } };
};
const withSchema = (name: string, from: string, to: string): OpenApiDocument => {
  const text = JSON.stringify(document.components.schemas[name]);
  expect(text).toContain(from);
  const schemas = { ...document.components.schemas, [name]: JSON.parse(text.replace(from, to)) };
  return { ...document, components: { ...document.components, schemas } };
};
const without = (path: string): OpenApiDocument => {
  const { [path]: _, ...paths } = document.paths;
  return { ...document, paths };
};

const show = "/api/v2/ssh-keys/{sshKeyId}";
const list = "/api/v2/organizations/{organizationName}/ssh-keys";

describe("a change breaks clients if", () => {
  test.each([
    ["an operation is gone", without(show), `gone: GET ${show}`],
    [
      "an attribute is gone",
      withSchema("ssh-keys", '"name":{"type":"string"}', '"title":{"type":"string"}'),
      `gone: GET ${show} 200 .data.attributes.name`,
    ],
    [
      "an attribute has another type",
      withSchema("ssh-keys", '"name":{"type":"string"}', '"name":{"type":["string","null"]}'),
      `another type: GET ${show} 200 .data.attributes.name: null`,
    ],
    [
      "an attribute of a request is required",
      changed(
        list,
        '"value":{"type":"string"}},"required":["name","value"]',
        '"value":{"type":"string"},"kind":{"type":"string"}},"required":["name","value","kind"]',
      ),
      `now required: POST ${list} body .data.attributes.kind`,
    ],
    [
      "an attribute of a request is no longer accepted",
      changed(list, '"value":{"type":"string"}', '"secret":{"type":"string"}'),
      `gone: POST ${list} body .data.attributes.value: string`,
    ],
    [
      "a parameter is gone",
      changed(list, "/parameters/page-size", "/parameters/page-number"),
      `gone: GET ${list} ?page[size]: integer`,
    ],
  ])("%s", (_, after, line) => {
    expect(breakingChanges(document, after)).toContain(line);
  });
});

describe("a change breaks no client if", () => {
  test("nothing changes", () => {
    expect(breakingChanges(document, document)).toEqual([]);
  });
  test("operations, attributes and optional parameters are added", () => {
    expect(breakingChanges(without(show), document)).toEqual([]);
    const more = withSchema("ssh-keys", '"name":{', '"kind":{"type":"string"},"name":{');
    expect(breakingChanges(document, more)).toEqual([]);
  });
});
