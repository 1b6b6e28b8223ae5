import type { Route } from "@statehouse/gateway/http/route";
import { openApiDocument } from "@statehouse/gateway/openapi/document";
import { routes } from "@statehouse/gateway/routes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { expectStatus } from "../stack/state.ts";
import { type ApiUser, newProject, newUser, newWorkspace, useFixture } from "./fixture.ts";
import { createObjects, type ObjectIds, pathWith } from "./object-ids.ts";

// Every attribute in the schema of every body is sent and read back, to prove that the API ignores no attribute that it
// accepts.

const fixture = useFixture();

type Attributes = Record<string, unknown>;

interface Case {
  type: string;
  /**
   * Bodies that together contain every attribute that the route accepts. One body is often not enough, because some
   * attributes exclude others.
   */
  bodies: () => Attributes[];
  /**
   * Attributes that the document of the resource does not show, each with the reason or with the place that shows it.
   */
  elsewhere?: Readonly<Record<string, string>>;
  by?: () => ApiUser;
  relationships?: () => Attributes;
}

const secret = "a secret that no document shows";
const uploaded = "content, which is downloaded";
const later = "2031-01-01T00:00:00.000Z";

let objects: ObjectIds;
let administrator: ApiUser;
beforeAll(async () => {
  const { owner, stack } = fixture();
  const organization = await newOrganization(owner.api);
  objects = await createObjects({ organization, owner });
  administrator = await newUser(stack, { administrator: true });
});
// Removes the policy, because other test files may use the same installation.
afterAll(async () => {
  await administrator.api.delete("/admin/general-settings/relationships/data-retention-policy");
});
const inPool = () => ({ "agent-pool-id": objects.agentPoolId });
const pool = { "default-agent-pool-id": "shown as the relationship default-agent-pool" };

const organization: Case = {
  type: "organizations",
  bodies: () => [
    {
      name: objects.organizationName,
      email: "sent@example.com",
      "allow-force-delete-workspaces": true,
      "assessments-enforced": true,
      "user-tokens-enabled": true,
      "max-ttl-enabled": true,
      "stacks-enabled": false,
      "collaborator-auth-policy": "two_factor_mandatory",
      "cost-estimation-enabled": true,
      "send-passing-statuses-for-untriggered-speculative-plans": true,
      "aggregated-commit-status-enabled": false,
      "speculative-plan-management-enabled": false,
      "session-timeout": 1000,
      "session-remember": 2000,
      "owners-team-saml-role-id": "role",
    },
    { "default-execution-mode": "agent", "default-agent-pool-id": objects.agentPoolId },
    { "default-execution-mode": "local", "max-ttl-enabled": false },
  ],
  elsewhere: pool,
};

const project: Case = {
  type: "projects",
  bodies: () => [
    {
      name: unusedName("sent"),
      description: "Sent",
      "auto-destroy-activity-duration": "3d",
      "default-execution-mode": "agent",
      "default-agent-pool-id": objects.agentPoolId,
    },
    {
      name: unusedName("sent"),
      "setting-overwrites": { "default-execution-mode": false, "default-agent-pool": false },
    },
  ],
  elsewhere: pool,
};

const workspaceBodies = (): Attributes[] => [
  {
    name: unusedName("sent"),
    "allow-destroy-plan": false,
    "auto-apply": true,
    "auto-apply-run-trigger": true,
    "auto-destroy-at": later,
    "inherits-project-auto-destroy": false,
    description: "Sent",
    "execution-mode": "agent",
    ...inPool(),
    "global-remote-state": true,
    "project-remote-state": false,
    "queue-all-runs": true,
    "setting-overwrites": { "execution-mode": true, "agent-pool": true },
    "speculative-enabled": false,
    "structured-run-output-enabled": false,
    "engine-version": "1.5.0",
    "file-triggers-enabled": true,
    "trigger-patterns": ["**/*.tf"],
    "working-directory": "stage",
    "assessments-enabled": false,
  },
  {
    name: unusedName("sent"),
    "auto-destroy-activity-duration": "5h",
    "file-triggers-enabled": false,
    "global-remote-state": false,
    "project-remote-state": true,
    operations: true,
    "terraform-version": "1.6.0",
    "trigger-prefixes": ["modules"],
    "vcs-repo": {
      identifier: "acme/network",
      branch: "main",
      "ingress-submodules": true,
      "oauth-token-id": "ot-1",
      "tags-regex": "v.*",
    },
  },
];
const workspaceElsewhere = {
  "assessments-enabled": "another edition",
  "vcs-repo": "has further members",
};
const workspace: Case = {
  type: "workspaces",
  bodies: () => [
    // The workspace keeps its name, because another case finds it by its name.
    ...workspaceBodies().map((body) => ({ ...body, name: objects.name })),
    { "source-name": "client", "source-url": "https://a.example" },
  ],
  elsewhere: {
    ...workspaceElsewhere,
    "source-name": "set on creation only",
    "source-url": "set on creation only",
  },
};

const team: Case = {
  type: "teams",
  bodies: () => [
    {
      name: unusedName("sent"),
      visibility: "organization",
      description: "Sent",
      "sso-team-id": "group",
      "allow-member-token-management": false,
      "organization-access": { "manage-workspaces": true },
    },
  ],
};

const token: Case = {
  type: "authentication-tokens",
  bodies: () => [{ description: unusedName("sent"), "expired-at": later }],
};
const retention: Case = {
  type: "data-retention-policy-delete-olders",
  bodies: () => [
    { "delete-older-than-n-days": 5, "state-versions-delete-after-n-days": 3 },
    { "delete-older-than-n-days": 5, "state-versions-delete-after-n-days": null },
  ],
};
const agentPool: Case = {
  type: "agent-pools",
  bodies: () => [{ name: unusedName("sent"), "organization-scoped": false }],
};
const sshKey: Case = {
  type: "ssh-keys",
  bodies: () => [{ name: unusedName("sent"), value: "a key" }],
  elsewhere: { value: secret },
};
const reservedTagKey: Case = {
  type: "reserved-tag-keys",
  bodies: () => [{ key: unusedName("sent"), "disable-overrides": true }],
};
const custom = {
  access: "custom",
  "project-access": { settings: "update", teams: "read", "variable-sets": "write" },
  "workspace-access": { runs: "plan", locking: true, "policy-overrides": true },
};

const newTeamId = async (): Promise<string> => {
  const path = `/organizations/${objects.organizationName}/teams`;
  const body = document("teams", { name: unusedName("team") });
  return (await expectStatus(201, fixture().owner.api.post(path, body))).body.data.id;
};

let teamsOfCases: { project: string; workspace: string };
beforeAll(async () => {
  teamsOfCases = { project: await newTeamId(), workspace: await newTeamId() };
});
const access = (target: "project" | "workspace") => (): Attributes => ({
  team: { data: { type: "teams", id: teamsOfCases[target] } },
  [target]: { data: { type: `${target}s`, id: objects[`${target}Id`] } },
});
const teamProject: Case = { type: "team-projects", bodies: () => [custom] };
const teamWorkspace: Case = {
  type: "team-workspaces",
  // The body contains no permissions, because the schema does not name them.
  bodies: () => [{ access: "custom" }],
};

const self = "/api/v2";
const ofOrganization = `${self}/organizations/:organizationName`;
const policy = "relationships/data-retention-policy";

/** A case for every route whose body has attributes. */
const cases: Readonly<Record<string, Case>> = {
  [`PATCH ${self}/account/update`]: {
    type: "users",
    bodies: () => [{ username: unusedName("sent"), email: `${unusedName("sent")}@example.com` }],
    elsewhere: { email: "shown as unconfirmed-email until it is proven" },
    by: () => administrator,
  },
  [`POST ${self}/users/:userId/authentication-tokens`]: token,
  [`PATCH ${self}/admin/general-settings`]: {
    type: "general-settings",
    bodies: () => [
      { "default-remote-state-access": true, "plan-timeout": "3h", "apply-timeout": "4h" },
      { "default-remote-state-access": false, "plan-timeout": "2h", "apply-timeout": "24h" },
    ],
    by: () => administrator,
  },
  [`PATCH ${self}/admin/organizations/:organizationName`]: {
    type: "organizations",
    bodies: () => [{ "plan-identifier": "standard", "workspace-limit": 100 }],
    by: () => administrator,
  },
  [`POST ${self}/admin/users`]: {
    type: "users",
    bodies: () => [
      {
        username: unusedName("sent"),
        email: `${unusedName("sent")}@example.com`,
        "is-admin": true,
      },
    ],
    by: () => administrator,
  },
  [`POST ${self}/organizations`]: {
    ...organization,
    bodies: () =>
      organization.bodies().map((body) => ({
        ...body,
        name: unusedName("sent"),
        email: "sent@example.com",
        ...("default-agent-pool-id" in body
          ? { "default-agent-pool-id": "", "default-execution-mode": "remote" }
          : {}),
      })),
  },
  [`PATCH ${ofOrganization}`]: organization,
  [`PUT ${ofOrganization}`]: organization,
  [`POST ${ofOrganization}/agent-pools`]: agentPool,
  [`PATCH ${self}/agent-pools/:agentPoolId`]: agentPool,
  [`POST ${ofOrganization}/organization-memberships`]: {
    type: "organization-memberships",
    bodies: () => [{ email: `${unusedName("sent")}@example.com` }],
  },
  [`POST ${ofOrganization}/authentication-token`]: token,
  [`PATCH ${ofOrganization}/token-ttl-policies`]: {
    type: "organization-token-ttl-policies",
    bodies: () => [
      { "token-ttl-policies": [{ "token-type": "team", "max-ttl-ms": 63_072_000_000 }] },
    ],
    elsewhere: { "token-ttl-policies": "shown as a list of resources" },
  },
  [`POST ${ofOrganization}/teams`]: team,
  [`PATCH ${self}/teams/:teamId`]: team,
  [`POST ${self}/teams/:teamId/authentication-token`]: token,
  [`POST ${self}/teams/:teamId/authentication-tokens`]: token,
  [`POST ${self}/team-projects`]: { ...teamProject, relationships: access("project") },
  [`PATCH ${self}/team-projects/:teamProjectId`]: teamProject,
  [`POST ${self}/team-workspaces`]: { ...teamWorkspace, relationships: access("workspace") },
  [`PATCH ${self}/team-workspaces/:teamWorkspaceId`]: teamWorkspace,
  [`POST ${ofOrganization}/projects`]: project,
  [`PATCH ${self}/projects/:projectId`]: project,
  [`POST ${ofOrganization}/workspaces`]: {
    type: "workspaces",
    bodies: () =>
      workspaceBodies().map((body, index) => ({
        ...body,
        ...(index === 0 ? { "source-name": "client", "source-url": "https://a.example" } : {}),
      })),
    elsewhere: workspaceElsewhere,
  },
  [`PATCH ${self}/workspaces/:workspaceId`]: workspace,
  [`PATCH ${ofOrganization}/workspaces/:name`]: workspace,
  [`POST ${ofOrganization}/ssh-keys`]: sshKey,
  [`PATCH ${self}/ssh-keys/:sshKeyId`]: sshKey,
  [`PATCH ${self}/workspaces/:workspaceId/relationships/ssh-key`]: {
    type: "workspaces",
    bodies: () => [{ id: objects.sshKeyId }],
    elsewhere: { id: "shown as the relationship ssh-key" },
  },
  [`POST ${self}/workspaces/:workspaceId/${policy}`]: retention,
  [`PATCH ${self}/workspaces/:workspaceId/${policy}`]: retention,
  [`POST ${ofOrganization}/${policy}`]: retention,
  [`PATCH ${ofOrganization}/${policy}`]: retention,
  [`POST ${self}/admin/general-settings/${policy}`]: { ...retention, by: () => administrator },
  [`PATCH ${self}/admin/general-settings/${policy}`]: { ...retention, by: () => administrator },
  [`POST ${ofOrganization}/reserved-tag-keys`]: reservedTagKey,
  [`PATCH ${self}/reserved-tag-keys/:reservedTagKeyId`]: reservedTagKey,
};

/** Bodies whose attributes other tests send and read back. */
const provedElsewhere: Readonly<Record<string, string>> = {
  [`POST ${self}/workspaces/:workspaceId/state-versions`]: `${uploaded}; state-version.test.ts`,
};

const openApi = openApiDocument(routes);

const nameOf = ({ method, path }: Route) => `${method} ${path}`;

/** Returns the attributes that the body of a route accepts. */
function acceptedBy({ method, path, body }: Route): string[] {
  if (!body) return [];
  const operation = openApi.paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
  const member = (of: unknown, name: string): unknown => Reflect.get(Object(of), name);
  const content = member(member(operation, "requestBody"), "content");
  const document = member(member(content, "application/vnd.api+json"), "schema");
  const property = (schema: unknown, name: string) => member(member(schema, "properties"), name);
  const attributes = property(property(document, "data"), "attributes");
  return Object.keys(Object(member(attributes, "properties")));
}

const sending = routes.filter((route) => acceptedBy(route).length > 0);

describe("every attribute that a body accepts is read back", () => {
  test.each(sending.map((route) => [nameOf(route), route] as const))("%s", async (name, route) => {
    if (provedElsewhere[name]) return;
    const tried = cases[name];
    if (!tried) throw new Error(`a route without a case: add one for ${name}`);
    const { type, elsewhere = {}, by = () => fixture().owner, relationships } = tried;
    const bodies = tried.bodies();
    const sent = new Set(bodies.flatMap((body) => Object.keys(body)));
    expect([...sent].toSorted()).toEqual(acceptedBy(route).toSorted());
    for (const body of bodies) {
      const answer = await by().api.send(
        route.method,
        fixture().url + pathWith(route, objects),
        document(type, body, relationships?.()),
      );
      expect([answer.status, answer.body.errors]).toEqual([route.success, undefined]);
      const shown = Object.fromEntries(
        Object.keys(body)
          .filter((attribute) => !elsewhere[attribute])
          .map((attribute) => [attribute, body[attribute]]),
      );
      const { data } = answer.body;
      if (Object.keys(shown).length > 0) expect(data.attributes).toMatchObject(shown);
    }
  });
});

test("attributes that documents show as relationships are kept", async () => {
  const { owner } = fixture();
  const own = await newProject({ organization: objects.organizationName ?? "", owner });
  const pools = { type: "agent-pools", id: objects.agentPoolId };
  const changed = await owner.api.patch(
    `/projects/${own.id}`,
    document("projects", {
      "default-execution-mode": "agent",
      "default-agent-pool-id": objects.agentPoolId,
    }),
  );
  expect(changed.body.data.relationships["default-agent-pool"].data).toEqual(pools);
  const made = await newWorkspace({ organization: objects.organizationName ?? "", owner });
  const assigned = await owner.api.patch(
    `/workspaces/${made.id}/relationships/ssh-key`,
    document("workspaces", { id: objects.sshKeyId }),
  );
  expect(assigned.body.data.relationships["ssh-key"].data).toEqual({
    type: "ssh-keys",
    id: objects.sshKeyId,
  });
});
