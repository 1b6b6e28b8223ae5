import { organizationPermissions } from "@statehouse/gateway/organization/resource";
import type { PermissionTable } from "@statehouse/gateway/permissions-resource";
import { projectPermissions } from "@statehouse/gateway/project/resource";
import { type Answer, document, linkage } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { expectStatus, inlineState, stateFile, writeState } from "../stack/state.ts";
import { projectAccess } from "../stack/team-access.ts";
import type { Actor } from "./actors.ts";
import { newUser } from "./fixture.ts";

/** Tries the action of a permission flag on an object on which the actor has its role. */
export type Attempt = (actor: Actor, target: string) => Promise<Answer>;

/**
 * Returns whether the action was authorized. 401, 403 and 404 mean that it was refused; every other status depends on
 * the object.
 */
export const isAllowed = ({ status }: Answer): boolean => ![401, 403, 404].includes(status);

const workspaces = (attributes: Record<string, unknown>) => document("workspaces", attributes);
const flatTag = () => ({ data: [{ type: "tags", attributes: { name: unusedName("tag") } }] });
const outputs = { text: { value: "a", type: "string" } };

const lockedByOwner = async ({ owner }: Actor, id: string) =>
  expectStatus(200, owner.api.post(`/workspaces/${id}/actions/lock`));
const withState = async ({ owner }: Actor, id: string) =>
  expectStatus(201, writeState(owner.api, id, stateFile({ outputs })));

/** The action for each flag of a workspace's document. Flags without an endpoint are in `withoutEndpoint`. */
export const onWorkspace: Record<string, Attempt> = {
  "can-update": ({ api }, id) =>
    api.patch(`/workspaces/${id}`, workspaces({ description: "changed" })),
  "can-destroy": ({ api }, id) => api.post(`/workspaces/${id}/actions/safe-delete`),
  "can-force-delete": ({ api }, id) => api.delete(`/workspaces/${id}`),
  "can-read-run": ({ api }, id) => api.get(`/workspaces/${id}`),
  "can-read-settings": ({ api }, id) => api.get(`/workspaces/${id}`),
  "can-read-state-versions": async (actor, id) => {
    await withState(actor, id);
    return actor.api.get(`/workspaces/${id}/current-state-version`);
  },
  "can-read-state-outputs": ({ api }, id) =>
    api.get(`/workspaces/${id}/current-state-version-outputs`),
  // Locks the workspace first: otherwise, callers that may write receive 412.
  "can-create-state-versions": async ({ api }, id) => {
    await api.post(`/workspaces/${id}/actions/lock`);
    return api.post(`/workspaces/${id}/state-versions`, inlineState(stateFile()));
  },
  "can-lock": ({ api }, id) => api.post(`/workspaces/${id}/actions/lock`),
  "can-unlock": async ({ api }, id) => {
    await api.post(`/workspaces/${id}/actions/lock`);
    return api.post(`/workspaces/${id}/actions/unlock`);
  },
  "can-force-unlock": async (actor, id) => {
    await lockedByOwner(actor, id);
    return actor.api.post(`/workspaces/${id}/actions/force-unlock`);
  },
  "can-manage-tags": ({ api }, id) => api.post(`/workspaces/${id}/relationships/tags`, flatTag()),
  "can-manage-ephemeral-workspaces": ({ api }, id) =>
    api.patch(`/workspaces/${id}`, workspaces({ "auto-destroy-activity-duration": "1d" })),
};

/**
 * Flags of features that are unsupported or belong to other systems: runs, variables, registries, policies, stacks and
 * others.
 */
export const withoutEndpoint = {
  workspace: [
    "can-queue-destroy",
    "can-queue-run",
    "can-queue-apply",
    "can-read-variable",
    "can-update-variable",
    "can-manage-run-tasks",
    "can-manage-assessments",
    "can-read-assessment-results",
  ],
  project: Object.keys(projectPermissions).filter((flag) =>
    isDeniedToAll(projectPermissions, flag),
  ),
  organization: Object.keys(organizationPermissions).filter((flag) =>
    isDeniedToAll(organizationPermissions, flag),
  ),
};

function isDeniedToAll(table: PermissionTable, flag: string): boolean {
  return table[flag] === null;
}

/** Creates a team without members that is visible in the whole organization; returns its id. */
export const openTeam = async ({ owner, organization }: Actor): Promise<string> => {
  const body = document("teams", { name: unusedName("team"), visibility: "organization" });
  return (await expectStatus(201, owner.api.post(`/organizations/${organization}/teams`, body)))
    .body.data.id;
};

export const onProject: Record<string, Attempt> = {
  "can-read": ({ api }, id) => api.get(`/projects/${id}`),
  "can-update": ({ api }, id) =>
    api.patch(`/projects/${id}`, document("projects", { description: "changed" })),
  "can-destroy": ({ api }, id) => api.delete(`/projects/${id}`),
  "can-create-workspace": ({ api, organization }, id) =>
    api.post(
      `/organizations/${organization}/workspaces`,
      document("workspaces", { name: unusedName("made") }, project(id)),
    ),
  "can-move-workspace": async (actor, id) => {
    const workspaceId = await actor.workspace(id);
    const body = document("workspaces", {}, project(await actor.project()));
    return actor.api.patch(`/workspaces/${workspaceId}`, body);
  },
  "can-read-teams": async (actor, id) => {
    const body = projectAccess(await openTeam(actor), id);
    const { body: made } = await expectStatus(200, actor.owner.api.post("/team-projects", body));
    return actor.api.get(`/team-projects/${made.data.id}`);
  },
  "can-manage-teams": async (actor, id) =>
    actor.api.post("/team-projects", projectAccess(await openTeam(actor), id)),
  "can-manage-tags": ({ api }, id) =>
    api.patch(`/projects/${id}/tag-bindings`, {
      data: [{ type: "tag-bindings", attributes: { key: "a", value: "b" } }],
    }),
};

const project = (id: string) => ({ project: linkage("projects", id) });

const inOrganization =
  (tail: string, body: () => unknown): Attempt =>
  ({ api, organization }) =>
    api.post(`/organizations/${organization}${tail}`, body());
const named = (type: string, more: Record<string, unknown> = {}) =>
  inOrganization(`/${type}`, () => document(type, { name: unusedName("made"), ...more }));
/** The path of an organization's token other than the one that the actor uses. */
const otherToken = "/authentication-token?token=audit-trails";

export const onOrganization: Record<string, Attempt> = {
  "can-update": ({ api, organization }) =>
    api.patch(
      `/organizations/${organization}`,
      document("organizations", { email: "changed@example.com" }),
    ),
  "can-update-authentication-token": inOrganization(otherToken, () => undefined),
  "can-update-api-token": inOrganization(otherToken, () => undefined),
  "can-view-authentication": async ({ api, owner, organization }) => {
    await expectStatus(201, owner.api.post(`/organizations/${organization}${otherToken}`));
    return api.get(`/organizations/${organization}${otherToken}`);
  },
  "can-access-via-teams": ({ api, organization }) => api.get(`/organizations/${organization}`),
  "can-traverse": ({ api, organization }) => api.get(`/organizations/${organization}/projects`),
  "can-create-team": named("teams"),
  "can-create-project": named("projects"),
  // Tries to create a workspace in the default project, and then in a project on which the actor has its role.
  "can-create-workspace": async (actor) => {
    const anywhere = await named("workspaces")(actor, "");
    if (isAllowed(anywhere)) return anywhere;
    return onProject["can-create-workspace"]?.(actor, actor.projectId) ?? anywhere;
  },
  "can-manage-users": inOrganization("/organization-memberships", () =>
    document("organization-memberships", { email: `${unusedName("guest")}@example.com` }),
  ),
  "can-view-users": ({ api, organization }) =>
    api.get(`/organizations/${organization}/organization-memberships`),
  "can-update-ssh-keys": named("ssh-keys", { value: "a key" }),
  "can-update-agent-pools": named("agent-pools"),
  "can-manage-tags": async ({ api, owner, organization }, workspaceId) => {
    await expectStatus(
      204,
      owner.api.post(`/workspaces/${workspaceId}/relationships/tags`, flatTag()),
    );
    const { body } = await owner.api.get(`/workspaces/${workspaceId}/relationships/tags`);
    const [{ id }] = body.data;
    return api.delete(`/organizations/${organization}/tags`, { data: [{ type: "tags", id }] });
  },
  "can-destroy": ({ api, organization }) => api.delete(`/organizations/${organization}`),
};

const team = (attributes: Record<string, unknown>) => document("teams", attributes);
const patchTeam =
  (attributes: () => Record<string, unknown>): Attempt =>
  ({ api }, id) =>
    api.patch(`/teams/${id}`, team(attributes()));

export const onTeam: Record<string, Attempt> = {
  "can-update": patchTeam(() => ({})),
  "can-update-name": patchTeam(() => ({ name: unusedName("renamed") })),
  "can-update-visibility": patchTeam(() => ({ visibility: "organization" })),
  "can-update-sso-team-id": patchTeam(() => ({ "sso-team-id": "an-id" })),
  "can-update-member-token-management": patchTeam(() => ({
    "allow-member-token-management": true,
  })),
  "can-update-organization-access": patchTeam(() => ({
    "organization-access": { "read-projects": true },
  })),
  "can-update-membership": async ({ api, organization, owner, stack }, id) => {
    const person = await newUser(stack);
    const { username } = person;
    const invited = await expectStatus(
      201,
      owner.api.post(
        `/organizations/${organization}/organization-memberships`,
        document("organization-memberships", { email: `${username}@example.com` }),
      ),
    );
    const membership = `/organization-memberships/${invited.body.data.id}`;
    await expectStatus(200, person.api.post(`${membership}/actions/accept`));
    return api.post(`/teams/${id}/relationships/users`, {
      data: [{ type: "users", id: username }],
    });
  },
  "can-update-api-token": ({ api }, id) => api.post(`/teams/${id}/authentication-token`),
  "can-view-api-token": async ({ api, owner }, id) => {
    await expectStatus(201, owner.api.post(`/teams/${id}/authentication-token`));
    return api.get(`/teams/${id}/authentication-token`);
  },
  "can-destroy": ({ api }, id) => api.delete(`/teams/${id}`),
};
