import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { routes } from "../routes.ts";
import { namesOf } from "./compared.ts";
import { openApiDocument } from "./document.ts";
import { matches, readNotServed } from "./not-served.ts";

const text = readFileSync(path.join(import.meta.dirname, "not-served.txt"), "utf8");
const list = readNotServed(text);

describe("the list of what is not served", () => {
  test("contains nothing that the OpenAPI document describes", () => {
    const { operations, members } = namesOf(openApiDocument(routes));
    const served = [...operations, ...members];
    const stale = list.flatMap((line) => served.filter((name) => matches(line, name)));
    expect(stale).toEqual([]);
  });
  test("has each name once, with a reason, and the names of a reason in order", () => {
    const patterns = list.map(({ pattern }) => pattern);
    expect(new Set(patterns).size).toBe(patterns.length);
    expect(list.length).toBeGreaterThan(0);
    for (const reason of new Set(list.map((line) => line.reason))) {
      const names = list.filter((line) => line.reason === reason).map(({ pattern }) => pattern);
      expect(names).toEqual(names.toSorted());
      expect(reason).toMatch(/^[A-Z].*\.$/);
    }
    expect(() => readNotServed("  teams links.self\n")).toThrow("teams links.self has no reason.");
  });
});

test("the names of a document do not depend on references, alternatives and the form of parameters", () => {
  const names = namesOf({
    paths: {
      "/teams/{id}": {
        get: {
          parameters: [
            { in: "path", name: "id" },
            { $ref: "#/components/parameters/page" },
            { in: "query", name: "include", schema: { items: { enum: ["users", "projects"] } } },
          ],
        },
      },
    },
    components: {
      parameters: {
        page: { in: "query", name: "page", schema: { properties: { number: {}, size: {} } } },
      },
      schemas: {
        teams: {
          properties: {
            type: { enum: ["teams"] },
            attributes: { allOf: [{ $ref: "#/components/schemas/attributes" }] },
            relationships: { properties: { users: { properties: { data: {} } } } },
          },
        },
        attributes: { properties: { name: {}, permissions: { properties: { destroy: {} } } } },
      },
    },
  });
  expect([...names.operations]).toEqual([
    "GET /teams/{}",
    "GET /teams/{} ?page[number]",
    "GET /teams/{} ?page[size]",
    "GET /teams/{} ?include",
    "GET /teams/{} ?include=users",
    "GET /teams/{} ?include=projects",
  ]);
  expect([...names.members]).toEqual([
    "teams attributes.name",
    "teams attributes.permissions",
    "teams attributes.permissions.destroy",
    "teams relationships.users",
  ]);
});
