import { routes } from "@statehouse/gateway/routes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, document, upload } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { processedVersion, stateFile, writeState } from "../stack/state.ts";
import { type ApiUser, newUser, newWorkspace, useFixture } from "./fixture.ts";
import { createObjects, type ObjectIds, pathWith, queryFor } from "./object-ids.ts";

// Every change that is visible in a GET response must change the entity tag of the response.

const fixture = useFixture();

let objects: ObjectIds;
let consumer: { id: string; attributes: { name: string } };
let administrator: ApiUser;
beforeAll(async () => {
  const { owner, stack } = fixture();
  const organization = await newOrganization(owner.api);
  objects = await createObjects({ organization, owner });
  consumer = await newWorkspace({ organization, owner });
  administrator = await newUser(stack, { administrator: true });
  await uploadJson(objects.stateVersionId ?? "");
  for (const holder of [base(), `/teams/${objects.teamId}`]) {
    await owner.api.post(`${holder}/authentication-token`);
  }
  await administrator.api.post(`/admin/general-settings/${policy}`, days(30));
});

/** Uploads the JSON form of a state, so that the document of its version no longer has an upload URL. */
async function uploadJson(stateVersionId: string): Promise<void> {
  const { api } = fixture().owner;
  const before = await api.get(`/state-versions/${stateVersionId}`);
  expect(before.headers.get("etag")).toBeNull();
  expect(before.headers.get("cache-control")).toBe("no-store");
  const url = before.body.data.attributes["hosted-json-state-upload-url"];
  expect((await upload(url, "{}")).status).toBe(200);
}

// Restores the settings, because other test files may use the same installation.
afterAll(async () => {
  await administrator.api.delete(`/admin/general-settings/${policy}`);
  const settings = document("general-settings", { "plan-timeout": "2h" });
  await administrator.api.patch("/admin/general-settings", settings);
});

const base = () => `/organizations/${objects.organizationName}`;
const workspace = () => `/workspaces/${objects.workspaceId}`;
const policy = "relationships/data-retention-policy";
const days = (value: number) =>
  document("data-retention-policy-delete-olders", { "delete-older-than-n-days": value });
const bindings = (key: string) => ({
  data: [{ type: "tag-bindings", attributes: { key, value: "changed" } }],
});

interface Change {
  /** Makes the change. */
  make: () => Promise<Answer>;
  by?: "administrator";
  /** The routes whose responses show the change. */
  shownBy: readonly string[];
}

const patch = (path: () => string, type: string, attributes: () => Record<string, unknown>) => () =>
  fixture().owner.api.patch(path(), document(type, attributes()));

const changes: Readonly<Record<string, Change>> = {
  "the description of a workspace": {
    make: patch(workspace, "workspaces", () => ({ description: unusedName("changed") })),
    shownBy: [
      "/organizations/:organizationName/workspaces",
      "/organizations/:organizationName/workspaces/:name",
      "/workspaces/:workspaceId",
    ],
  },
  "the description of a project": {
    make: patch(
      () => `/projects/${objects.projectId}`,
      "projects",
      () => ({ description: unusedName("changed") }),
    ),
    shownBy: [
      "/organizations/:organizationName/projects",
      "/projects/:projectId",
      "/organization/audit-trail",
    ],
  },
  "the e-mail address of an organization": {
    make: patch(base, "organizations", () => ({ email: `${unusedName("changed")}@example.com` })),
    shownBy: [
      "/organizations",
      "/organizations/:organizationName",
      "/admin/organizations",
      "/admin/organizations/:organizationName",
    ],
  },
  "the tag bindings of a project": {
    make: () =>
      fixture().owner.api.patch(
        `/projects/${objects.projectId}/tag-bindings`,
        bindings(unusedName("changed")),
      ),
    shownBy: [
      "/projects/:projectId/tag-bindings",
      "/projects/:projectId/relationships/tag-bindings",
      "/projects/:projectId/effective-tag-bindings",
      "/workspaces/:workspaceId/effective-tag-bindings",
    ],
  },
  "the tag bindings of a workspace": {
    make: () =>
      fixture().owner.api.patch(`${workspace()}/tag-bindings`, bindings(unusedName("changed"))),
    shownBy: [
      "/workspaces/:workspaceId/tag-bindings",
      "/workspaces/:workspaceId/relationships/tag-bindings",
    ],
  },
  "the tags of a workspace": {
    make: () =>
      fixture().owner.api.post(`${workspace()}/relationships/tags`, {
        data: [{ type: "tags", attributes: { name: unusedName("changed") } }],
      }),
    shownBy: [
      "/organizations/:organizationName/tags",
      "/workspaces/:workspaceId/relationships/tags",
    ],
  },
  "the consumers of a workspace": {
    make: () =>
      fixture().owner.api.post(`${workspace()}/relationships/remote-state-consumers`, {
        data: [{ type: "workspaces", id: consumer.id }],
      }),
    shownBy: ["/workspaces/:workspaceId/relationships/remote-state-consumers"],
  },
  "the name of an agent pool": {
    make: patch(
      () => `/agent-pools/${objects.agentPoolId}`,
      "agent-pools",
      () => ({ name: unusedName("changed") }),
    ),
    shownBy: ["/agent-pools/:agentPoolId", "/organizations/:organizationName/agent-pools"],
  },
  "the name of an SSH key": {
    make: patch(
      () => `/ssh-keys/${objects.sshKeyId}`,
      "ssh-keys",
      () => ({ name: unusedName("changed") }),
    ),
    shownBy: ["/ssh-keys/:sshKeyId", "/organizations/:organizationName/ssh-keys"],
  },
  "a reserved tag key": {
    make: patch(
      () => `/reserved-tag-keys/${objects.reservedTagKeyId}`,
      "reserved-tag-keys",
      () => ({ key: unusedName("changed") }),
    ),
    shownBy: ["/organizations/:organizationName/reserved-tag-keys"],
  },
  "the retention policy of a workspace": {
    make: () => fixture().owner.api.patch(`${workspace()}/${policy}`, days(11)),
    shownBy: ["/workspaces/:workspaceId/relationships/data-retention-policy"],
  },
  "the retention policy of an organization": {
    make: () => fixture().owner.api.patch(`${base()}/${policy}`, days(12)),
    shownBy: ["/organizations/:organizationName/relationships/data-retention-policy"],
  },
  "the retention policy of the installation": {
    make: () => administrator.api.patch(`/admin/general-settings/${policy}`, days(13)),
    shownBy: ["/admin/general-settings/relationships/data-retention-policy"],
  },
  "the general settings": {
    make: () =>
      administrator.api.patch(
        "/admin/general-settings",
        document("general-settings", { "plan-timeout": "3h" }),
      ),
    shownBy: ["/admin/general-settings"],
  },
  "the access of a team to a project": {
    make: patch(
      () => `/team-projects/${objects.teamProjectId}`,
      "team-projects",
      () => ({ access: "maintain" }),
    ),
    shownBy: [
      "/team-projects",
      "/team-projects/:teamProjectId",
      "/workspaces/:workspaceId/effective-permissions",
    ],
  },
  "the access of a team to a workspace": {
    make: patch(
      () => `/team-workspaces/${objects.teamWorkspaceId}`,
      "team-workspaces",
      () => ({ access: "plan" }),
    ),
    shownBy: ["/team-workspaces", "/team-workspaces/:teamWorkspaceId"],
  },
  "the members of a team": {
    make: () =>
      fixture().owner.api.post(`/teams/${objects.teamId}/relationships/users`, {
        data: [{ type: "users", id: fixture().owner.username }],
      }),
    shownBy: [
      "/teams/:teamId",
      "/teams/:teamId/relationships/organization-memberships",
      "/organizations/:organizationName/teams",
      "/organizations/:organizationName/organization-memberships",
      "/organization-memberships",
      "/organization-memberships/:membershipId",
    ],
  },
  "the default token of a team": {
    make: () => fixture().owner.api.post(`/teams/${objects.teamId}/authentication-token`),
    shownBy: [
      "/teams/:teamId/authentication-token",
      "/organizations/:organizationName/team-tokens",
    ],
  },
  "the token of an organization": {
    make: () => fixture().owner.api.post(`${base()}/authentication-token`),
    shownBy: ["/organizations/:organizationName/authentication-token"],
  },
  "the lifetime of tokens": {
    make: () =>
      fixture().owner.api.patch(
        `${base()}/token-ttl-policies`,
        document("organization-token-ttl-policies", {
          "token-ttl-policies": [{ "token-type": "team", "max-ttl-ms": 3_600_000 }],
        }),
      ),
    shownBy: ["/organizations/:organizationName/token-ttl-policies"],
  },
  "a new token of a user": {
    make: () =>
      fixture().owner.api.post(
        `/users/${objects.userId}/authentication-tokens`,
        document("authentication-tokens", {}),
      ),
    shownBy: ["/users/:userId/authentication-tokens"],
  },
  "the use of a token": {
    make: async () => {
      const used = "update tokens set last_used_at = now() + interval '1 hour' where id = $1";
      await fixture().stack.rows("access", used, [objects.tokenId]);
      return fixture().owner.api.get(`/authentication-tokens/${objects.tokenId}`);
    },
    shownBy: ["/authentication-tokens/:tokenId"],
  },
  "a lock": {
    make: () => fixture().owner.api.post(`/workspaces/${consumer.id}/actions/lock`),
    shownBy: ["/admin/workspaces"],
  },
  "a new state": {
    make: async () => {
      const { api } = fixture().owner;
      const outputs = { text: { value: "b", type: "string" }, more: { value: 1, type: "number" } };
      const file = stateFile({ serial: 7, outputs, resources: 1 });
      const written = await writeState(api, objects.workspaceId ?? "", file, { force: true });
      await uploadJson(written.body.data.id);
      await processedVersion(api, written.body.data.id);
      return written;
    },
    shownBy: [
      "/state-versions",
      "/workspaces/:workspaceId/current-state-version",
      "/workspaces/:workspaceId/current-state-version-outputs",
      "/workspaces/:workspaceId/resources",
      // The document of a version contains the id of the next version.
      "/state-versions/:stateVersionId",
    ],
  },
  "the name of a user": {
    make: patch(
      () => "/account/update",
      "users",
      () => ({ username: unusedName("changed") }),
    ),
    shownBy: ["/account/details", "/users/:userId", "/admin/users"],
  },
};

/** Routes whose responses have no entity tag, or never change, with the reason. */
const unchanging: Readonly<Record<string, string>> = {
  "/ping": "has no body",
  "/organizations/:organizationName/entitlement-set":
    "follows from the settings of the installation",
  "/changelog": "is part of the program",
  "/state-versions/:stateVersionId/outputs": "outputs of a version do not change",
  "/state-version-outputs/:stateVersionOutputId": "an output does not change",
  "/state-versions/:stateVersionId/changes": "versions do not change",
};

const api = "/api/v2";
const shown = new Set(Object.values(changes).flatMap(({ shownBy }) => shownBy));
const readable = routes.filter(
  ({ method, path, credentials }) =>
    method === "GET" &&
    path.startsWith(api) &&
    credentials !== "none" &&
    !unchanging[path.slice(api.length)],
);

test("every GET route is in the table of changes", () => {
  expect(readable.map(({ path }) => path.slice(api.length)).toSorted()).toEqual(
    [...shown].toSorted(),
  );
});

/** Query parameters that lists require, or that limit a list to objects of this test. */
const queries: Readonly<Record<string, () => string>> = {
  "/state-versions": () =>
    `?filter[organization][name]=${objects.organizationName}&filter[workspace][name]=${objects.name}`,
  "/team-projects": () => `?filter[project][id]=${objects.projectId}`,
  "/team-workspaces": () => `?filter[workspace][id]=${objects.workspaceId}`,
  "/workspaces/:workspaceId/effective-permissions": () => `?filter[team]=${objects.teamId}`,
  "/organization/audit-trail": () => `?filter[organization][name]=${objects.organizationName}`,
  "/admin/organizations": () => `?q=${objects.organizationName}`,
  "/admin/workspaces": () => `?q=${consumer.attributes.name}`,
  "/admin/users": () => `?q=${fixture().owner.username}`,
};

function addressOf(path: string): string {
  const route = routes.find((one) => one.method === "GET" && one.path === `${api}${path}`);
  if (!route) throw new Error(`no route ${path}`);
  const query = queries[path]?.() ?? queryFor(route, objects);
  return `${fixture().url}${pathWith(route, objects)}${query}`;
}

const read = (path: string, address: string, tag?: string) => {
  const user = path.startsWith("/admin/") ? administrator : fixture().owner;
  return user.api.send("GET", address, undefined, tag ? { "if-none-match": tag } : {});
};

describe("a change that a response shows changes its tag", () => {
  test.each(Object.entries(changes))("%s", async (_, { make, shownBy }) => {
    const before = new Map<string, { address: string; tag: string; body: unknown }>();
    for (const path of shownBy) {
      const address = addressOf(path);
      const { status, headers, body } = await read(path, address);
      expect([path, status]).toEqual([path, 200]);
      const tag = headers.get("etag") ?? "";
      expect([path, tag.slice(0, 3)]).toEqual([path, 'W/"']);
      before.set(path, { address, tag, body });
    }
    const made = await make();
    expect([200, 201, 204]).toContain(made.status);
    for (const [path, { address, tag, body }] of before) {
      const after = await read(path, address, tag);
      expect([path, after.status]).toEqual([path, 200]);
      expect(after.body, path).not.toEqual(body);
      expect(after.headers.get("etag"), path).not.toBe(tag);
      // The audit trail can gain records of the installation's own work between two reads.
      if (path === "/organization/audit-trail") continue;
      const again = await read(path, address, after.headers.get("etag") ?? "");
      expect([path, again.status]).toEqual([path, 304]);
    }
  });
});
