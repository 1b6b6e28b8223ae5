import type { Route } from "@statehouse/gateway/http/route";
import { routes } from "@statehouse/gateway/routes";
import { afterAll, expect, test } from "vitest";
import { schemasOf } from "../golden/openapi-conformance.ts";
import { document } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { expectStatus, inlineState, processedVersion, stateFile } from "../stack/state.ts";
import { newUser, useFixture } from "./fixture.ts";
import { bodyFor, createObjects, type ObjectIds, pathWith } from "./object-ids.ts";

// This test records the examples of the OpenAPI document: bodies of requests that succeeded, and resources of their
// responses. `npm test -- --update=true test/system/openapi-examples.test.ts` writes the file, and `npm run
// openapi:renew` the document.

const fixture = useFixture();
const file = "../../services/gateway/openapi/examples.json";
/** The time limit is long, because all operations are called one after another. */
const TIME_MS = 600_000;
const SITE_POLICY = "/admin/general-settings/relationships/data-retention-policy";
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Bodies with more members than the smallest valid ones, keyed by operation. */
const bodies: Record<string, (objects: ObjectIds) => unknown> = {
  "POST /api/v2/organizations/:organizationName/workspaces": ({ projectId = "" }) => ({
    data: {
      type: "workspaces",
      attributes: {
        name: "network",
        description: "Networks of all regions",
        "engine-version": "1.11.0",
        "auto-apply": true,
      },
      relationships: { project: { data: { type: "projects", id: projectId } } },
    },
  }),
  "PATCH /api/v2/workspaces/:workspaceId": () =>
    document("workspaces", { description: "Networks of all regions", "auto-apply": false }),
  "POST /api/v2/workspaces/:workspaceId/state-versions": () => inlineState(stateFile()),
  "PATCH /api/v2/workspaces/:workspaceId/state-versions": ({ stateVersionId = "" }) => ({
    data: {
      type: "state-versions",
      relationships: {
        "rollback-state-version": { data: { type: "state-versions", id: stateVersionId } },
      },
    },
  }),
  "POST /api/v2/workspaces/:workspaceId/actions/lock": () => ({ reason: "Maintenance" }),
  "POST /api/v2/organizations/:organizationName/teams": () =>
    document("teams", { name: "operators", "organization-access": { "manage-projects": true } }),
};

// Deletes the policy that the calls set for the whole installation, which other test files use as well.
afterAll(async () => {
  const { api } = await newUser(fixture().stack, { administrator: true });
  await expectStatus(204, api.delete(SITE_POLICY));
});

test("the examples of the OpenAPI document are requests and resources of this test", {
  timeout: TIME_MS,
}, async () => {
  const { stack } = fixture();
  const owner = await newUser(stack, { administrator: true });
  const organization = await newOrganization(owner.api);
  const objects = await createObjects({ organization, owner });
  await processedVersion(owner.api, objects.stateVersionId ?? "");
  const examples: Record<"bodies" | "resources" | "listed", Map<string, unknown>> = {
    bodies: new Map(),
    resources: new Map(),
    listed: new Map(),
  };
  for (const route of routes.toSorted((a, b) => place(a) - place(b))) {
    if (route.credentials === "none" || route.content?.form === "text") continue;
    if (!route.body && route.method === "DELETE") continue;
    const name = `${route.method} ${route.path}`;
    const body = route.body ? (bodies[name]?.(objects) ?? bodyFor(route, objects)) : undefined;
    // Limits this list to the workspace of this test; all other lists contain only objects of this test.
    const query = route.path === "/api/v2/admin/workspaces" ? `?q=${objects.name}` : "";
    const path = pathWith(route, objects).replace(/^\/api\/v2/, "") + query;
    const answer = await owner.api.send(route.method, path, body);
    if (answer.status !== route.success) continue;
    if (body !== undefined && says(body)) examples.bodies.set(name, body);
    if (answer.body === "") continue;
    // The order of a list may depend on random names. An item of a list is therefore an example only if no other
    // document contains a resource of its schema.
    const kind = route.content?.form === "one" ? "resources" : "listed";
    for (const resource of [answer.body.data].flat()) {
      for (const schema of schemasOf(resource)) {
        if (!examples[kind].has(schema)) examples[kind].set(schema, resource);
      }
    }
  }
  const resources = new Map([...examples.listed, ...examples.resources]);
  const text = JSON.stringify(
    { bodies: constantOf(examples.bodies, stack.url), resources: constantOf(resources, stack.url) },
    null,
    2,
  );
  await expect(`${text}\n`).toMatchFileSnapshot(file);
});

/**
 * Returns a number by which the calls are sorted: first the reads, then the action that locks, then the changes that
 * are not actions, and then the other actions. Calls that suspend or change the administrator who makes the calls come
 * last, because no call is permitted after them.
 */
function place({ method, path }: Route): number {
  if (method !== "GET" && path.includes("/admin/users/")) return methods.length + 1;
  if (path.endsWith("/actions/lock")) return 0.5;
  return path.includes("/actions/") ? methods.length : methods.indexOf(method);
}

/** Returns whether a body is a useful example: neither its attributes nor its `data` are empty. */
const says = (body: unknown): boolean =>
  !/"(attributes|data)":(\{\}|\[\])/.test(JSON.stringify(body));

const constantOf = (examples: ReadonlyMap<string, unknown>, url: string) =>
  Object.fromEntries(
    [...examples]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, example]) => [
        name,
        JSON.parse(constant(JSON.stringify(example).replaceAll(url, ""))),
      ]),
  );

/**
 * Replaces values that differ between runs: ids and random names by numbered ones, and times, hashes and secrets by
 * fixed ones.
 */
function constant(text: string): string {
  const numbers = new Map<string, string>();
  const counts = new Map<string, number>();
  const numbered = (found: string, prefix: string, width: number): string => {
    const known = numbers.get(found);
    if (known) return known;
    const count = (counts.get(prefix) ?? 0) + 1;
    counts.set(prefix, count);
    const name = `${prefix}-${String(count).padStart(width, "0")}`;
    numbers.set(found, name);
    return name;
  };
  return text
    .replaceAll(/\b([a-z]+)-[A-Za-z0-9]{16}\b/g, (found, prefix: string) =>
      numbered(found, prefix, 16),
    )
    .replaceAll(/\b([a-z]+)-[0-9a-f]{10,12}\b/g, (found, prefix: string) =>
      numbered(found, prefix, 1),
    )
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2026-01-15T09:30:00.000Z")
    .replaceAll(
      /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g,
      "9f6a1b1c-5a3e-4a55-9d0c-1d2f3a4b5c6d",
    )
    .replaceAll(/"[A-Za-z0-9+/]{200,}={0,2}"/g, '"eyJ2ZXJzaW9uIjo0fQ=="')
    .replaceAll(/\b[0-9a-f]{32}\b/g, "0f343b0931126a20f133d67c2b018a3b")
    .replaceAll(/"[^"]*\/v1\/object\/[^"]*"/g, '"/v1/object/…"')
    .replaceAll(/"[A-Za-z0-9]+\.atlasv1\.[^"]*"/g, '"14-characters.atlasv1.secret"');
}
