import { routes } from "@statehouse/gateway/routes";
import { proves } from "@statehouse/testing/proves";
import { beforeAll, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { workspaceAccess } from "../stack/team-access.ts";
import { type ApiUser, newTeam, useFixture } from "./fixture.ts";
import { createObjects, type ObjectIds, parametersOf, pathWith } from "./object-ids.ts";

const fixture = useFixture();

let objects: ObjectIds;
/** A user whose team has one grant, on one workspace. */
let guest: ApiUser;
/** A user who may read all workspaces but no project. */
let auditor: ApiUser;

beforeAll(async () => {
  const { owner, organization, readable } = fixture();
  objects = await createObjects({ organization, owner }, readable.id);
  auditor = (await newTeam(fixture(), ["read-workspaces"])).member;
  const { id: teamId, member } = await newTeam(fixture());
  guest = member;
  await owner.api.post("/team-workspaces", workspaceAccess(teamId, objects.workspaceId));
  // Invites a user who does not accept. Included resources must not reveal this user.
  await owner.api.post(
    `/organizations/${organization}/organization-memberships`,
    document(
      "organization-memberships",
      { email: `${fixture().outsider.username}@example.com` },
      { teams: { data: [{ type: "teams", id: objects.teamId }] } },
    ),
  );
});

/**
 * Returns the path at which a resource of an included type can be read; undefined if the resource is only a part of its
 * workspace.
 */
const addresses: Record<string, ((id: string) => string) | undefined> = {
  "effective-tag-bindings": undefined,
  "entitlement-sets": () => `/organizations/${objects.organizationName}/entitlement-set`,
  organizations: (id) => `/organizations/${id}`,
  "organization-memberships": (id) => `/organization-memberships/${id}`,
  projects: (id) => `/projects/${id}`,
  "state-versions": (id) => `/state-versions/${id}`,
  "state-version-outputs": (id) => `/state-version-outputs/${id}`,
  teams: (id) => `/teams/${id}`,
  users: (id) => `/users/${id}`,
  "workspace-outputs": (id) => `/state-version-outputs/${id}`,
  workspaces: (id) => `/workspaces/${id}`,
};

const including = routes.filter(({ method, includes }) => method === "GET" && includes.length > 0);

test.each(["owner", "reader", "guest", "auditor", "outsider"] as const)(
  "%s can include only what it may read directly",
  async (who) => {
    proves(
      "Isolation/includes",
      "State version includes/nothing that the caller could not ask for by itself",
    );
    const parties = { ...fixture(), guest, auditor };
    const { api } = parties[who];
    const seen = new Set<string>();
    let found = 0;
    for (const route of including) {
      const filters = `filter[project][id]=${objects.projectId}&filter[workspace][id]=${objects.workspaceId}&filter[organization][name]=${objects.organizationName}&filter[workspace][name]=${objects.name}`;
      const target = `${fixture().url}${pathWith(route, objects)}?include=${route.includes.join()}&${filters}`;
      const { body, status } = await api.get(target);
      expect([200, 404], `${route.path} ${parametersOf(route)}`).toContain(status);
      // For a user without access to the organization, the count must stay 0. The list of the caller's own memberships
      // is therefore not counted: every caller may read these memberships and what they include.
      if (route.path !== "/api/v2/organization-memberships") found += body.included?.length ?? 0;
      for (const { type, id } of body.included ?? []) {
        if (!Object.hasOwn(addresses, type)) {
          throw new Error(
            `resources of type ${type} are included: add where they can be read directly`,
          );
        }
        const path = addresses[type]?.(id);
        if (!path || seen.has(path)) continue;
        seen.add(path);
        const alone = await api.get(path);
        expect(alone.status, `${route.path} includes ${path}`).toBe(200);
      }
    }
    expect(found > 0).toBe(who !== "outsider");
  },
);
