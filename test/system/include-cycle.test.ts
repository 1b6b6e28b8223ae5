import { routes } from "@statehouse/gateway/routes";
import { proves } from "@statehouse/testing/proves";
import { beforeAll, expect, test } from "vitest";
import type { Answer } from "../stack/http.ts";
import { includedIn, linkedFrom, nameOf } from "../stack/resources.ts";
import { newUser, useFixture } from "./fixture.ts";
import { type FullOrganization, newFullOrganization } from "./full-organization.ts";
import { createObjects, type ObjectIds, pathWith } from "./object-ids.ts";

// go-tfe resolves included resources by following their links, and overflows its stack in a cycle. For example, an
// organization links to its default project, which links back to the organization.

const fixture = useFixture();

/**
 * Returns a path from an included resource through other included resources back to itself; undefined if there is none.
 */
function cycleIn(answer: Answer): string[] | undefined {
  const included = new Map(includedIn(answer).map((resource) => [nameOf(resource), resource]));
  const through = new Set<string>();
  const walk = (name: string, way: readonly string[]): string[] | undefined => {
    if (way.includes(name)) return [...way, name];
    if (through.has(name)) return undefined;
    through.add(name);
    const resource = included.get(name);
    for (const linked of resource ? linkedFrom(resource) : []) {
      const found = walk(linked, [...way, name]);
      if (found) return found;
    }
    return undefined;
  };
  for (const name of included.keys()) {
    const found = walk(name, []);
    if (found) return found;
  }
  return undefined;
}

let objects: ObjectIds;
let full: FullOrganization;
let administrator: Awaited<ReturnType<typeof newUser>>;
beforeAll(async () => {
  const { owner, organization } = fixture();
  const { body } = await owner.api.get(`/organizations/${organization}`);
  objects = await createObjects(
    { owner, organization },
    body.data.relationships["default-project"].data.id,
  );
  full = await newFullOrganization(fixture());
  administrator = await newUser(fixture().stack, { administrator: true });
});

const including = routes.filter(({ method, includes }) => method === "GET" && includes.length > 0);

test.each(including.map((route) => [route.path, route] as const))(
  "includes of %s never lead back to an included resource",
  async (_, route) => {
    proves("Workspace includes/never organization and project both ways");
    const { owner, url } = fixture();
    const filters = `filter[project][id]=${objects.projectId}&filter[workspace][id]=${objects.workspaceId}&filter[organization][name]=${objects.organizationName}&filter[workspace][name]=${objects.name}`;
    const path = `${url}${pathWith(route, objects)}?include=${route.includes.join()}&${filters}`;
    const { api } = route.path.startsWith("/api/v2/admin/") ? administrator : owner;
    const answer = await api.get(path);
    expect(answer.status).toBe(200);
    expect(cycleIn(answer)).toBeUndefined();
  },
);

test("includes of workspaces with every relationship never lead back either", async () => {
  proves("Workspace includes/never organization and project both ways");
  const route = including.find(({ path }) => path.endsWith("/:organizationName/workspaces"));
  const include = route?.includes.join();
  for (const path of [
    `/organizations/${full.organization}/workspaces?include=${include}`,
    `/workspaces/${full.workspaceId}?include=${include}`,
  ]) {
    const answer = await full.owner.api.get(path);
    expect(answer.body.included.length).toBeGreaterThan(8);
    expect(cycleIn(answer)).toBeUndefined();
  }
});
