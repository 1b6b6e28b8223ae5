import { routes } from "@statehouse/gateway/routes";
import { beforeAll, expect, test } from "vitest";
import { errorDetails, useFixture } from "./fixture.ts";
import { bodyFor, createObjects, type ObjectIds, pathWith } from "./object-ids.ts";

// Errors quote at most 40 characters of a value, with control characters escaped.

const fixture = useFixture();
/**
 * A value that is longer than any valid text. It begins with control characters, because errors quote the beginning.
 */
const value = `\u0007\n\u202e${"x".repeat(10_000)}`;

let objects: ObjectIds;
beforeAll(async () => {
  objects = await createObjects(fixture());
});

interface Document {
  data?: { attributes?: object; relationships?: object };
}

const isDocument = (body: unknown): body is Document =>
  typeof body === "object" && body !== null && "data" in body && !Array.isArray(body.data);

function expectShort(details: readonly string[], place: string): void {
  for (const detail of details) {
    expect(detail, place).not.toMatch(/x{81}|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    for (const [, quotation = ""] of detail.matchAll(/'([^']*x[^']*)'/g)) {
      const shown = quotation.replaceAll(/\\u\{\w+\}/g, "·").replace(/…$/, "");
      expect([...shown].length, `${place}: ${detail}`).toBeLessThanOrEqual(40);
    }
  }
}

test("errors about attributes, their names and relationships quote at most 40 characters", async () => {
  const { owner, url } = fixture();
  let seen = 0;
  const writing = routes.filter(
    ({ method, body, path }) => method !== "GET" && body && !path.startsWith("/api/v2/admin/"),
  );
  for (const route of writing) {
    const path = pathWith(route, objects);
    const example = bodyFor(route, objects);
    const shown = await owner.api.get(url + path);
    const [resource] = [shown.body?.data ?? []].flat();
    const members = (named: object | undefined, content: unknown) =>
      Object.fromEntries(Object.keys({ ...named, [value]: 0 }).map((name) => [name, content]));
    const data = isDocument(example) ? example.data : undefined;
    const names = { ...resource?.attributes, ...data?.attributes };
    const bodies = [
      { data: { ...data, attributes: members(names, value) } },
      { data: { ...data, attributes: { ...data?.attributes, ...members({}, value) } } },
      { data: { ...data, attributes: members(names, { [value]: value }) } },
      { data: { ...data, relationships: members(data?.relationships, { data: { id: value } }) } },
      { data: [{ type: value, id: value, attributes: { name: value, key: value } }] },
      { [value]: value, reason: value },
    ];
    for (const body of bodies) {
      const answer = await owner.api.send(route.method, url + path, body);
      if (answer.status < 400) continue;
      const details = errorDetails(answer);
      seen += details.length;
      expectShort(details, `${route.method} ${route.path}`);
    }
  }
  expect(seen).toBeGreaterThan(routes.length);
});

test("errors about query parameters quote at most 40 characters", async () => {
  const { owner, url } = fixture();
  const text = encodeURIComponent(value);
  for (const route of routes.filter(({ method, path }) => method === "GET" && /^.api/.test(path))) {
    for (const name of ["include", "sort", "page[size]", "filter[status]"]) {
      const answer = await owner.api.get(`${url}${pathWith(route, objects)}?${name}=${text}`);
      if (answer.status >= 400) expectShort(errorDetails(answer), `${route.path}?${name}`);
    }
  }
});
