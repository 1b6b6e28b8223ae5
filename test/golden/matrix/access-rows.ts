import { document } from "../../stack/http.ts";
import { projectAccess, workspaceAccess } from "../../stack/team-access.ts";
import { organizationToken } from "./arrangements.ts";
import type { PreparedCaller } from "./prepared-caller.ts";
import { type Row, row } from "./row.ts";

const organization = "/api/v2/organizations/:organizationName";
const tokensOfUser = "/api/v2/users/:userId/authentication-tokens";
const token = "/api/v2/authentication-tokens/:tokenId";
const team = "/api/v2/teams/:teamId";

const isUser = ({ caller }: PreparedCaller) => caller.userId !== undefined;
const hasTeam = ({ caller }: PreparedCaller) => caller.teamId !== undefined;
const isNotOwner = ({ caller, fixture }: PreparedCaller) =>
  caller.grants().organizations.get(fixture.organizationId)?.owner !== true;
const itself = { userId: "ownUserId" };
const ofOwners = { teamId: "ownersTeamId" };

/** Routes for users and their tokens. */
export const tokenRows: readonly Row[] = [
  row("GET /api/v2/account/details", "who stands for somebody"),
  row("PATCH /api/v2/account/update", "every token"),
  row("GET /api/v2/users/:userId", "colleagues"),
  row(`GET ${tokensOfUser}`, "noCaller", { note: "another user's" }),
  row(`GET ${tokensOfUser}`, "the user itself", { note: "own", ids: itself, only: isUser }),
  row(`POST ${tokensOfUser}`, "noCaller", { note: "another user's" }),
  row(`POST ${tokensOfUser}`, "the user itself", { note: "own", ids: itself, only: isUser }),
  row(`GET ${token}`, "noCaller", { note: "another user's" }),
  row(`GET ${token}`, "the user itself", {
    note: "own",
    ids: { tokenId: "ownTokenId" },
    only: isUser,
  }),
  row(`GET ${token}`, "organization:manage-teams", {
    note: "a team's",
    ids: { tokenId: "teamTokenId" },
  }),
  row(`DELETE ${token}`, "noCaller", { note: "another user's" }),
  row(`DELETE ${token}`, "the user itself", {
    note: "own",
    ids: { tokenId: "ownTokenId" },
    only: isUser,
    spends: "ownToken",
  }),
  row(`DELETE ${token}`, "organization:manage-teams", {
    note: "a team's",
    ids: { tokenId: "teamTokenId" },
    spends: "teamToken",
  }),
  row(`GET ${organization}/authentication-token`, "organization:update"),
  row(`POST ${organization}/authentication-token`, "organization:update", { pass: "apart" }),
  row(`DELETE ${organization}/authentication-token`, "organization:update", {
    pass: "apart",
    before: organizationToken,
  }),
  row(`GET ${organization}/team-tokens`, "organization:read"),
  row(`DELETE ${organization}/team-tokens`, "organization:manage-teams", {
    body: ({ objects }) => ({
      data: [{ type: "authentication-tokens", id: objects.teamTokenId }],
    }),
    spends: "teamToken",
  }),
  row(`POST ${team}/authentication-token`, "organization:manage-teams", { spends: "teamToken" }),
  row(`POST ${team}/authentication-token`, "trusted members", {
    note: "own team's",
    ids: { teamId: "ownTeamId" },
    only: hasTeam,
    spends: "ownTeamToken",
  }),
  row(`POST ${team}/authentication-tokens`, "organization:manage-teams"),
  row(`POST ${team}/authentication-tokens`, "trusted members", {
    note: "own team's",
    ids: { teamId: "ownTeamId" },
    only: hasTeam,
  }),
  row(`POST ${team}/authentication-tokens`, "owners", { note: "the owners'", ids: ofOwners }),
  row(`GET ${team}/authentication-token`, "organization:manage-teams"),
  row(`GET ${team}/authentication-token`, "trusted members", {
    note: "own team's",
    ids: { teamId: "ownTeamId" },
    only: hasTeam,
  }),
  row(`DELETE ${team}/authentication-token`, "organization:manage-teams", { spends: "teamToken" }),
  row(`DELETE ${team}/authentication-token`, "trusted members", {
    note: "own team's",
    ids: { teamId: "ownTeamId" },
    only: hasTeam,
    spends: "ownTeamToken",
  }),
];

const membership = "/api/v2/organization-memberships/:membershipId";
const ownMembership = { membershipId: "ownMembershipId" };
const hasMembership = ({ objects }: PreparedCaller) => objects.ownMembershipId !== undefined;
const invitation = { membershipId: "invitationId" };

/** Routes for the members of an organization and of its teams. */
export const membershipRows: readonly Row[] = [
  row("GET /api/v2/organization-memberships", "every token"),
  row(`GET ${organization}/organization-memberships`, "organization:read"),
  row(`POST ${organization}/organization-memberships`, "organization:manage-membership"),
  row(`GET ${membership}`, "organization:read", { note: "another's" }),
  row(`GET ${membership}`, "the member itself", {
    note: "own",
    ids: ownMembership,
    only: hasMembership,
  }),
  row(`DELETE ${membership}`, "organization:manage-membership", {
    note: "an invitation",
    ids: invitation,
    spends: "invitation",
  }),
  row(`DELETE ${membership}`, "noCaller", { note: "an owner's", only: isNotOwner }),
  row(`DELETE ${membership}`, "the member itself", {
    note: "own",
    ids: ownMembership,
    pass: "last",
    only: hasMembership,
  }),
  row(`POST ${membership}/actions/accept`, "noCaller", { note: "another's", ids: invitation }),
  row(`POST ${membership}/actions/accept`, "the invited user", {
    note: "own",
    ids: ownMembership,
    pass: "alone",
    only: ({ caller }) => caller.invitationId !== undefined,
  }),
  row(`GET ${organization}/teams`, "organization:read"),
  row(`POST ${organization}/teams`, "organization:manage-teams"),
  row(`POST ${organization}/teams`, ["organization:manage-teams", "organization:manage-access"], {
    note: "with access to the organization",
    body: ({ objects }) =>
      document("teams", {
        name: `access-${Date.now()}-${objects.projectId}`,
        "organization-access": { "read-workspaces": true },
      }),
  }),
  row(`GET ${team}`, "organization:read", { note: "an open one" }),
  row(`GET ${team}`, "whoever sees the secret team", {
    note: "a secret one",
    ids: { teamId: "secretTeamId" },
  }),
  row(`GET ${team}/relationships/organization-memberships`, "organization:read", {
    note: "an open one's",
  }),
  row(`GET ${team}/relationships/organization-memberships`, "whoever sees the secret team", {
    note: "a secret one's",
    ids: { teamId: "secretTeamId" },
  }),
  row(`PATCH ${team}`, "organization:manage-teams"),
  row(`PATCH ${team}`, "organization:manage-access", {
    note: "its access to the organization",
    body: () => document("teams", { "organization-access": { "read-workspaces": false } }),
  }),
  row(`PATCH ${team}`, "owners", { note: "the owners", ids: ofOwners }),
  row(`POST ${team}/relationships/users`, "organization:manage-membership"),
  row(`POST ${team}/relationships/users`, "owners", { note: "the owners", ids: ofOwners }),
  row(`DELETE ${team}/relationships/users`, "organization:manage-membership"),
  row(`DELETE ${team}/relationships/users`, "owners", { note: "the owners", ids: ofOwners }),
  row(`POST ${team}/relationships/organization-memberships`, "organization:manage-membership"),
  row(`DELETE ${team}/relationships/organization-memberships`, "organization:manage-membership"),
  row(`DELETE ${team}`, "organization:manage-teams", { spends: "team" }),
  row(`DELETE ${team}`, "owners", { note: "the owners", ids: ofOwners, allowed: 409 }),
];

/** Routes for the access of teams to projects and workspaces. */
export const teamAccessRows: readonly Row[] = [
  row("GET /api/v2/team-projects", "project:read", {
    query: ({ objects }) => `filter[project][id]=${objects.projectId}`,
  }),
  row("POST /api/v2/team-projects", "project:manage-teams", {
    body: ({ objects }) => projectAccess(objects.freeTeamId, objects.projectId),
    spends: "freeTeam",
  }),
  row("GET /api/v2/team-projects/:teamProjectId", "project:read-teams", {
    note: "another, open team's",
  }),
  row("GET /api/v2/team-projects/:teamProjectId", "project:read", {
    note: "the own team's",
    ids: { teamProjectId: "ownTeamProjectId" },
    only: ({ objects }) => objects.ownTeamProjectId !== undefined,
  }),
  row("PATCH /api/v2/team-projects/:teamProjectId", "project:manage-teams"),
  row("DELETE /api/v2/team-projects/:teamProjectId", "project:manage-teams", {
    spends: "teamProject",
  }),
  row("GET /api/v2/team-workspaces", "workspace:read", {
    query: ({ objects }) => `filter[workspace][id]=${objects.workspaceId}`,
  }),
  row("POST /api/v2/team-workspaces", "workspace:manage-teams", {
    body: ({ objects }) => workspaceAccess(objects.freeTeamId, objects.workspaceId),
    spends: "freeTeam",
  }),
  row("GET /api/v2/team-workspaces/:teamWorkspaceId", "workspace:manage-teams", {
    note: "another team's",
  }),
  row("GET /api/v2/team-workspaces/:teamWorkspaceId", "workspace:read", {
    note: "the own team's",
    ids: { teamWorkspaceId: "ownTeamWorkspaceId" },
    only: ({ objects }) => objects.ownTeamWorkspaceId !== undefined,
  }),
  row("PATCH /api/v2/team-workspaces/:teamWorkspaceId", "workspace:manage-teams"),
  row("DELETE /api/v2/team-workspaces/:teamWorkspaceId", "workspace:manage-teams", {
    spends: "team",
  }),
];
