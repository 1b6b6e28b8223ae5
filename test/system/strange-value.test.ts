import { routes } from "@statehouse/gateway/routes";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { errorDetails, useFixture } from "./fixture.ts";
import { bodyFor, createObjects, type ObjectIds, pathWith } from "./object-ids.ts";

// For any value that a client sends, the response is not a 5xx, and a refusal names the problem.

const fixture = useFixture();
/**
 * Number of iterations in one execution of this test. Over many executions, they combine most values with most
 * positions; a new position is covered after a few executions.
 */
const RUNS = 400;

let objects: ObjectIds;
/** The attributes in the documents of each route; most of them are also accepted in requests. */
const shown = new Map<string, string[]>();

const writing = routes.filter(
  ({ method, path, body }) => method !== "GET" && body && !path.startsWith("/api/v2/admin/"),
);

beforeAll(async () => {
  objects = await createObjects(fixture());
  for (const route of writing) {
    const { body } = await fixture().owner.api.get(fixture().url + pathWith(route, objects));
    const [first] = [body?.data ?? []].flat();
    shown.set(route.path, Object.keys(first?.attributes ?? {}));
  }
});

const values = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, "", " ", 0, -1, 1.5, 1e308, 2 ** 31, 2 ** 53, true, [], {}, [null], [[]], [{}]],
    ...["\0", "\ud800", "__proto__", "constructor", "ws-0000000000000000", "x".repeat(5000)],
    ...["9999-12-31T23:59:59Z", "0d", "(?<", "~> 1", "agent", "%", "\\", "a,b", "💥".repeat(100)],
    ...[{ data: null }, { data: [] }, { data: { id: null, type: null } }, { data: [{ id: 1 }] }],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

interface Document {
  data?: { type?: unknown; attributes?: object; relationships?: object };
}

const isDocument = (body: unknown): body is Document =>
  typeof body === "object" && body !== null && "data" in body && !Array.isArray(body.data);

test("no value of an attribute, a relationship or another member of a document returns 5xx", async () => {
  const { owner, url } = fixture();
  const places = fc.record({
    route: fc.nat(writing.length - 1),
    section: fc.constantFrom("attributes", "relationships", "data", "all"),
    at: fc.nat(),
    value: values,
  });
  await fc.assert(
    fc.asyncProperty(places, async ({ route: index, section, at, value }) => {
      const route = writing[index];
      if (!route) return;
      const example = bodyFor(route, objects);
      let body: unknown = value;
      if (isDocument(example) && section !== "all") {
        const data = { ...example.data };
        const names = [...(shown.get(route.path) ?? []), "id", "value", "key"].filter(
          // A name that the path contains is not changed, because later iterations would not find the object by its old
          // name.
          (name) => name !== "name" || !/:(organizationName|name)$/.test(route.path),
        );
        const name = names[at % names.length] ?? "";
        const links = ["project", "tags", "tag-bindings", "default-agent-pool", "team", "run"];
        const link = links[at % links.length] ?? "";
        if (section === "attributes") data.attributes = { ...data.attributes, [name]: value };
        else if (section === "relationships")
          data.relationships = { ...data.relationships, [link]: value };
        else Object.assign(data, { [["type", "id", "attributes"][at % 3] ?? ""]: value });
        body = { data };
      } else if (section !== "all") body = { data: [value] };
      const path = pathWith(route, objects);
      const answer = await owner.api.send(route.method, url + path, body);
      expect(answer.status, `${route.method} ${path} ${JSON.stringify(body)}`).toBeLessThan(500);
      if (answer.status >= 400) errorDetails(answer);
    }),
    { numRuns: RUNS },
  );
});

const names = [
  ...["page[number]", "page[size]", "sort", "include", "q", "search[name]", "search[tags]"],
  ...["search[wildcard-name]", "search[exclude-tags]", "filter[names]", "filter[project][id]"],
  ...["filter[current-run][status]", "filter[tagged][0][key]", "filter[tagged][0][value]"],
  ...["filter[exclude][taggable][id]", "filter[workspace][name]", "filter[organization][name]"],
  ...[
    "filter[workspace][id]",
    "filter[locked]",
    "filter[status]",
    "filter[allowed_projects][name]",
    "filter[allowed-workspaces][name]",
    "token",
  ],
];
const texts = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "%00",
    "%",
    "%25",
    "%zz",
    "_",
    "\\",
    "*",
    "**",
    "a*b",
    "'",
    ",",
    ",,",
    "-",
    "--",
  ),
  fc.constantFrom(
    "-name",
    "name,-name",
    "__proto__",
    "0",
    "1e3",
    "99999999999999999999",
    "ws-1",
    "a.b.c",
  ),
  fc
    .string({ unit: "grapheme", maxLength: 30 })
    .map((text) => encodeURIComponent(text.toWellFormed())),
);

test("no value of a query parameter returns 5xx", async () => {
  const { owner, url } = fixture();
  const reading = routes.filter(({ method, path }) => method === "GET" && /^.api.v2/.test(path));
  const choice = fc.record({
    route: fc.nat(reading.length - 1),
    parameters: fc.array(fc.tuple(fc.constantFrom(...names), texts), { maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(choice, async ({ route: index, parameters }) => {
      const route = reading[index];
      if (!route) return;
      const query = parameters.map(([name, text]) => `${name}=${text}`).join("&");
      const answer = await owner.api.get(`${url}${pathWith(route, objects)}?${query}`);
      expect(answer.status, `${route.path}?${query}`).toBeLessThan(500);
    }),
    { numRuns: RUNS },
  );
});
