import type { Route } from "@statehouse/gateway/http/route";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { inlineState, rollbackTo, stateFile, writeState } from "../stack/state.ts";
import { projectAccess, workspaceAccess } from "../stack/team-access.ts";
import { type Fixture, newProject, newWorkspace } from "./fixture.ts";

/** Ids and names of one object of each kind. The keys are the names of the routes' parameters, and further names. */
export type ObjectIds = Record<string, string>;

const outputs = { text: { value: "a", type: "string" } };
const encoded = Buffer.from(JSON.stringify(outputs)).toString("base64");

/** Creates one object of each kind as the owner, by default in a new project. */
export async function createObjects(
  { organization, owner }: Pick<Fixture, "organization" | "owner">,
  projectId?: string,
): Promise<ObjectIds> {
  const project = projectId ?? (await newProject({ organization, owner })).id;
  const { body: shown } = await owner.api.get(`/projects/${project}`);
  const workspace = await newWorkspace({ organization, owner }, {}, project);
  const { body } = await writeState(owner.api, workspace.id, stateFile({ outputs }), {
    "json-state-outputs": encoded,
  });
  const listed = await owner.api.get(`/state-versions/${body.data.id}/outputs`);
  const made = await owner.api.post(
    `/users/${owner.id}/authentication-tokens`,
    document("authentication-tokens", {}),
  );
  const pool = await owner.api.post(
    `/organizations/${organization}/agent-pools`,
    document("agent-pools", { name: unusedName("pool") }),
  );
  const reserved = await owner.api.post(
    `/organizations/${organization}/reserved-tag-keys`,
    document("reserved-tag-keys", { key: unusedName("key") }),
  );
  const tagName = unusedName("tag");
  await owner.api.post(`/workspaces/${workspace.id}/relationships/tags`, {
    data: [{ type: "tags", attributes: { name: tagName } }],
  });
  const tags = await owner.api.get(`/organizations/${organization}/tags?q=${tagName}`);
  const base = `/organizations/${organization}`;
  const team = await owner.api.post(
    `${base}/teams`,
    document("teams", { name: unusedName("team"), visibility: "organization" }),
  );
  const teamId = team.body.data.id;
  const onProject = await owner.api.post("/team-projects", projectAccess(teamId, project));
  const onWorkspace = await owner.api.post(
    "/team-workspaces",
    workspaceAccess(teamId, workspace.id),
  );
  const memberships = await owner.api.get(`${base}/organization-memberships?q=${owner.username}`);
  for (const target of [`/workspaces/${workspace.id}`, `/organizations/${organization}`]) {
    const policy = document("data-retention-policy-delete-olders", {
      "delete-older-than-n-days": 30,
    });
    await owner.api.post(`${target}/relationships/data-retention-policy`, policy);
  }
  const sshKey = await owner.api.post(
    `/organizations/${organization}/ssh-keys`,
    document("ssh-keys", { name: unusedName("key"), value: "a key" }),
  );
  return {
    sshKeyId: sshKey.body.data.id,
    teamName: team.body.data.attributes.name,
    tagName,
    username: owner.username,
    email: `${owner.username}@example.com`,
    teamId,
    teamProjectId: onProject.body.data.id,
    teamWorkspaceId: onWorkspace.body.data.id,
    membershipId: memberships.body.data[0].id,
    tagId: tags.body.data[0].id,
    reservedTagKeyId: reserved.body.data.id,
    agentPoolId: pool.body.data.id,
    organizationName: organization,
    projectId: project,
    projectName: shown.data.attributes.name,
    workspaceId: workspace.id,
    name: workspace.attributes.name,
    stateVersionId: body.data.id,
    stateVersionOutputId: listed.body.data[0].id,
    userId: owner.id,
    // The parameter of the route for avatars.
    id: owner.id,
    tokenId: made.body.data.id,
    downloadUrl: body.data.attributes["hosted-state-download-url"],
  };
}

/**
 * For each route, a function that returns a body that is valid for a permitted caller, so that a 422 does not hide a
 * 404.
 */
const bodies: Record<string, (objects: ObjectIds) => unknown> = {
  "/api/v2/organization-memberships/:membershipId/actions/accept": () => ({}),
  "/api/v2/team-projects": ({ teamId, projectId }) => projectAccess(teamId, projectId),
  "/api/v2/team-workspaces": ({ teamId, workspaceId }) => workspaceAccess(teamId, workspaceId),
  "/api/v2/organizations": () =>
    document("organizations", { name: unusedName("org"), email: "a@b.example" }),
  "/api/v2/organizations/:organizationName": () => document("organizations", {}),
  "/api/v2/admin/organizations/:organizationName": () =>
    document("organizations", { "plan-identifier": "free" }),
  "/api/v2/admin/general-settings": () => document("general-settings", {}),
  "/api/v2/admin/general-settings/relationships/data-retention-policy": () =>
    document("data-retention-policy-delete-olders", { "delete-older-than-n-days": 30 }),
  "/api/v2/organizations/:organizationName/agent-pools": () =>
    document("agent-pools", { name: unusedName("pool") }),
  "/api/v2/organizations/:organizationName/tags": () => ({
    data: [{ type: "tags", id: "tag-0000000000000000" }],
  }),
  "/api/v2/tags/:tagId/relationships/workspaces": () => ({
    data: [{ type: "workspaces", id: "ws-0000000000000000" }],
  }),
  "/api/v2/organizations/:organizationName/reserved-tag-keys": () =>
    document("reserved-tag-keys", { key: unusedName("key") }),
  "/api/v2/reserved-tag-keys/:reservedTagKeyId": () =>
    document("reserved-tag-keys", { "disable-overrides": true }),
  "/api/v2/organizations/:organizationName/ssh-keys": () =>
    document("ssh-keys", { name: "mine", value: "a key" }),
  "/api/v2/ssh-keys/:sshKeyId": () => document("ssh-keys", { name: "mine" }),
  "/api/v2/workspaces/:workspaceId/relationships/ssh-key": () =>
    document("workspaces", { id: null }),
  "/api/v2/workspaces/:workspaceId/relationships/data-retention-policy": () =>
    document("data-retention-policy-dont-deletes", {}),
  "/api/v2/organizations/:organizationName/relationships/data-retention-policy": () =>
    document("data-retention-policy-dont-deletes", {}),
  "/api/v2/agent-pools/:agentPoolId": () => document("agent-pools", { name: unusedName("pool") }),
  "/api/v2/account/update": () => document("users", {}),
  "/api/v2/admin/users": () =>
    document("users", { username: unusedName("user"), email: `${unusedName("user")}@b.example` }),
  "/api/v2/organizations/:organizationName/organization-memberships": () =>
    document("organization-memberships", { email: `${unusedName("user")}@b.example` }),
  "/api/v2/organizations/:organizationName/authentication-token": () =>
    document("authentication-tokens", {}),
  "/api/v2/organizations/:organizationName/token-ttl-policies": () =>
    document("organization-token-ttl-policies", {
      "token-ttl-policies": [{ "token-type": "team", "max-ttl-ms": 63_072_000_000 }],
    }),
  "/api/v2/organizations/:organizationName/teams": () =>
    document("teams", { name: unusedName("team") }),
  "/api/v2/teams/:teamId": () => document("teams", { "sso-team-id": "mine" }),
  "/api/v2/teams/:teamId/relationships/users": () => ({ data: [] }),
  "/api/v2/teams/:teamId/relationships/organization-memberships": () => ({ data: [] }),
  "/api/v2/teams/:teamId/authentication-token": () => document("authentication-tokens", {}),
  "/api/v2/teams/:teamId/authentication-tokens": () =>
    document("authentication-tokens", { description: unusedName("token") }),
  "/api/v2/team-projects/:teamProjectId": () => document("team-projects", { access: "admin" }),
  "/api/v2/team-workspaces/:teamWorkspaceId": () =>
    document("team-workspaces", { access: "admin" }),
  "/api/v2/organizations/:organizationName/projects": () =>
    document("projects", { name: unusedName("project") }),
  "/api/v2/projects/:projectId": () => document("projects", { description: "changed" }),
  "/api/v2/projects/:projectId/tag-bindings": () => ({
    data: [{ type: "tag-bindings", attributes: { key: "mine", value: "1" } }],
  }),
  "/api/v2/organizations/:organizationName/workspaces": () =>
    document("workspaces", { name: unusedName("workspace") }),
  "/api/v2/organizations/:organizationName/workspaces/:name": () =>
    document("workspaces", { description: "changed" }),
  "/api/v2/workspaces/:workspaceId": () => document("workspaces", { description: "changed" }),
  "/api/v2/workspaces/:workspaceId/actions/lock": () => ({ reason: "mine" }),
  "/api/v2/workspaces/:workspaceId/relationships/tags": () => ({
    data: [{ type: "tags", attributes: { name: "mine" } }],
  }),
  "/api/v2/workspaces/:workspaceId/relationships/remote-state-consumers": () => ({ data: [] }),
  "/api/v2/projects/:projectId/relationships/tag-bindings": () => ({
    data: [{ type: "tag-bindings", attributes: { key: "mine", value: "1" } }],
  }),
  "/api/v2/workspaces/:workspaceId/relationships/tag-bindings": () => ({
    data: [{ type: "tag-bindings", attributes: { key: "mine", value: "1" } }],
  }),
  "/api/v2/projects/:projectId/relationships/workspaces": ({ workspaceId }) => ({
    data: [{ type: "workspaces", id: workspaceId }],
  }),
  "/api/v2/organizations/:organizationName/team-tokens": () => ({
    data: [{ type: "authentication-tokens", id: "at-0000000000000000" }],
  }),
  "/api/v2/workspaces/:workspaceId/tag-bindings": () => ({
    data: [{ type: "tag-bindings", attributes: { key: "mine", value: "1" } }],
  }),
  // The route either creates a version or rolls back to one. This body contains the members for both.
  "/api/v2/workspaces/:workspaceId/state-versions": () => ({
    data: {
      ...inlineState(stateFile(), { force: true }).data,
      ...rollbackTo("sv-0000000000000000").data,
    },
  }),
  "/api/v2/users/:userId/authentication-tokens": () => document("authentication-tokens", {}),
};

/** Returns the names of the parameters in a route's path. */
export const parametersOf = ({ path }: Route) =>
  [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => name ?? "");

/** Returns the example body for the route. Throws for a new route without an example. */
export function bodyFor({ body, path, method }: Route, objects: ObjectIds): unknown {
  if (!body) return undefined;
  const make = bodies[path];
  if (!make) throw new Error(`a route without an example: add one for ${method} ${path} to bodies`);
  return make(objects);
}

/** Returns the route's path, filled with the ids of the objects. Throws for an unknown parameter. */
export const pathWith = ({ path }: Route, objects: ObjectIds): string =>
  path.replaceAll(/:([A-Za-z]+)/g, (_, name: string) => {
    const value = objects[name];
    if (!value)
      throw new Error(`an unknown parameter: add an example for :${name} to createObjects`);
    return value;
  });

/** Returns the query with the parameters that the route requires, from `?` on. */
export const queryFor = ({ path }: Route, objects: ObjectIds): string =>
  path.endsWith("/changes") ? `?filter[since]=${objects.stateVersionId}` : "";
