import { unusedName } from "../../stack/organization.ts";
import { expectStatus } from "../../stack/state.ts";
import { projectAccess, workspaceAccess } from "../../stack/team-access.ts";
import { newWorkspace } from "../../system/fixture.ts";
import { make, policy, setOrganizationPolicy, setSitePolicy } from "./site.ts";
import type { Stage } from "./stage.ts";

type Renewal = (stage: Stage) => Promise<void>;

const ofOrganization =
  (name: string, type: string, attributes: () => Record<string, unknown>) =>
  async ({ site, estate }: Stage, key: string) => {
    const path = `/organizations/${site.organization}/${name}`;
    estate[key] = await make(site.owner.api, path, type, attributes());
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

/** Creates each object again after a call has consumed it. `team` includes its dependent objects. */
export const renewals = {
  agentPool: (stage) => newPool(stage, "agentPoolId"),
  sshKey: (stage) => newSshKey(stage, "sshKeyId"),
  reservedTagKey: (stage) => newReservedKey(stage, "reservedTagKeyId"),
  freeTeam: (stage) => newTeam(stage, "freeTeamId"),
  /** With a plain token and access to project and workspace. */
  team: async (stage) => {
    const { site, estate } = stage;
    await newTeam(stage, "teamId");
    await renewals.teamToken(stage);
    await renewals.teamProject(stage);
    const access = workspaceAccess(estate.teamId, estate.workspaceId);
    const given = await expectStatus(200, site.owner.api.post("/team-workspaces", access));
    estate.teamWorkspaceId = given.body.data.id;
  },
  tag: async ({ site: { owner, organization }, estate }) => {
    const name = unusedName("tag");
    const path = `/workspaces/${estate.workspaceId}/relationships/tags`;
    const tag = { data: [{ type: "tags", attributes: { name } }] };
    await expectStatus(204, owner.api.post(path, tag));
    const found = await expectStatus(
      200,
      owner.api.get(`/organizations/${organization}/tags?q=${name}`),
    );
    estate.tagId = found.body.data[0].id;
  },
  invitation: async ({ site, estate }) => {
    const path = `/organizations/${site.organization}/organization-memberships`;
    const email = `${unusedName("invited")}@example.com`;
    estate.invitationId = await make(site.owner.api, path, "organization-memberships", { email });
  },
  /** A workspace without state, to be deleted or moved. */
  spare: async ({ site, caller, estate }) => {
    const { id, attributes } = await newWorkspace(site, {}, estate.projectId);
    await caller.give({ workspaceId: id });
    estate.spareId = id;
    estate.spareName = attributes.name;
  },
  /** Of a user who belongs to no organization. */
  subject: async ({ site: { stack }, estate }) => {
    estate.subjectId = (await stack.people.newUser()).id;
  },
  ownToken: async ({ caller, estate }) => {
    if (!caller.userId || !caller.type) return;
    const path = `/users/${caller.userId}/authentication-tokens`;
    estate.ownTokenId = await make(caller.api, path, "authentication-tokens", {});
  },
  teamToken: async ({ site: { owner }, estate }) => {
    const path = `/teams/${estate.teamId}/authentication-token`;
    estate.teamTokenId = await make(owner.api, path, "authentication-tokens", {});
  },
  ownTeamToken: async ({ site: { owner }, caller, estate }) => {
    if (!caller.teamId) return;
    const path = `/teams/${caller.teamId}/authentication-token`;
    estate.ownTeamTokenId = await make(owner.api, path, "authentication-tokens", {});
  },
  teamProject: async ({ site: { owner }, estate }) => {
    const access = projectAccess(estate.teamId, estate.projectId);
    const given = await expectStatus(200, owner.api.post("/team-projects", access));
    estate.teamProjectId = given.body.data.id;
  },
  workspacePolicy: async ({ site: { owner }, estate }) => {
    const path = `/workspaces/${estate.workspaceId}/relationships/data-retention-policy`;
    await expectStatus(200, owner.api.post(path, policy));
  },
  organizationPolicy: ({ site }) => setOrganizationPolicy(site),
  sitePolicy: ({ site }) => setSitePolicy(site),
} satisfies Record<string, Renewal>;

export type Renewable = keyof typeof renewals;
