import { unusedName } from "../../stack/organization.ts";
import { expectStatus } from "../../stack/state.ts";
import { projectAccess, workspaceAccess } from "../../stack/team-access.ts";
import { newWorkspace } from "../../system/fixture.ts";
import { make, policy, setInstallationPolicy, setOrganizationPolicy } from "./fixture.ts";
import type { PreparedCaller } from "./prepared-caller.ts";

type Renewal = (prepared: PreparedCaller) => Promise<void>;

const ofOrganization =
  (name: string, type: string, attributes: () => Record<string, unknown>) =>
  async ({ fixture, objects }: PreparedCaller, key: string) => {
    const path = `/organizations/${fixture.organization}/${name}`;
    objects[key] = await make(fixture.owner.api, path, type, attributes());
  };

const newPool = ofOrganization("agent-pools", "agent-pools", () => ({ name: unusedName("pool") }));
const newSshKey = ofOrganization("ssh-keys", "ssh-keys", () => ({
  name: unusedName("key"),
  value: "a key",
}));
const newReservedKey = ofOrganization("reserved-tag-keys", "reserved-tag-keys", () => ({
  key: unusedName("key"),
}));
const newTeam = ofOrganization("teams", "teams", () => ({
  name: unusedName("team"),
  visibility: "organization",
}));

/** Functions that recreate an object that a call has used up. `team` also recreates the objects that depend on it. */
export const renewals = {
  agentPool: (prepared) => newPool(prepared, "agentPoolId"),
  sshKey: (prepared) => newSshKey(prepared, "sshKeyId"),
  reservedTagKey: (prepared) => newReservedKey(prepared, "reservedTagKeyId"),
  freeTeam: (prepared) => newTeam(prepared, "freeTeamId"),
  /** A team with a default token and with access to the project and the workspace. */
  team: async (prepared) => {
    const { fixture, objects } = prepared;
    await newTeam(prepared, "teamId");
    await renewals.teamToken(prepared);
    await renewals.teamProject(prepared);
    const access = workspaceAccess(objects.teamId, objects.workspaceId);
    const created = await expectStatus(200, fixture.owner.api.post("/team-workspaces", access));
    objects.teamWorkspaceId = created.body.data.id;
  },
  tag: async ({ fixture: { owner, organization }, objects }) => {
    const name = unusedName("tag");
    const path = `/workspaces/${objects.workspaceId}/relationships/tags`;
    const tag = { data: [{ type: "tags", attributes: { name } }] };
    await expectStatus(204, owner.api.post(path, tag));
    const found = await expectStatus(
      200,
      owner.api.get(`/organizations/${organization}/tags?q=${name}`),
    );
    objects.tagId = found.body.data[0].id;
  },
  invitation: async ({ fixture, objects }) => {
    const path = `/organizations/${fixture.organization}/organization-memberships`;
    const email = `${unusedName("invited")}@example.com`;
    objects.invitationId = await make(fixture.owner.api, path, "organization-memberships", {
      email,
    });
  },
  /** A workspace that has no state, and that a call deletes or moves. */
  spare: async ({ fixture, caller, objects }) => {
    const { id, attributes } = await newWorkspace(fixture, {}, objects.projectId);
    await caller.give({ workspaceId: id });
    objects.spareId = id;
    objects.spareName = attributes.name;
  },
  /** A user who belongs to no organization. Administrators suspend and delete this user. */
  subject: async ({ fixture: { stack }, objects }) => {
    objects.subjectId = (await stack.people.newUser()).id;
  },
  ownToken: async ({ caller, objects }) => {
    if (!caller.userId || !caller.type) return;
    const path = `/users/${caller.userId}/authentication-tokens`;
    objects.ownTokenId = await make(caller.api, path, "authentication-tokens", {});
  },
  teamToken: async ({ fixture: { owner }, objects }) => {
    const path = `/teams/${objects.teamId}/authentication-token`;
    objects.teamTokenId = await make(owner.api, path, "authentication-tokens", {});
  },
  ownTeamToken: async ({ fixture: { owner }, caller, objects }) => {
    if (!caller.teamId) return;
    const path = `/teams/${caller.teamId}/authentication-token`;
    objects.ownTeamTokenId = await make(owner.api, path, "authentication-tokens", {});
  },
  teamProject: async ({ fixture: { owner }, objects }) => {
    const access = projectAccess(objects.teamId, objects.projectId);
    const created = await expectStatus(200, owner.api.post("/team-projects", access));
    objects.teamProjectId = created.body.data.id;
  },
  workspacePolicy: async ({ fixture: { owner }, objects }) => {
    const path = `/workspaces/${objects.workspaceId}/relationships/data-retention-policy`;
    await expectStatus(200, owner.api.post(path, policy));
  },
  organizationPolicy: ({ fixture }) => setOrganizationPolicy(fixture),
  sitePolicy: ({ fixture }) => setInstallationPolicy(fixture),
} satisfies Record<string, Renewal>;

export type Renewable = keyof typeof renewals;
