import { type OrganizationAccess, organizationAccessNames } from "@statehouse/authorization";
import { inWords, type Problems, quoted } from "@statehouse/errors";
import { newId } from "@statehouse/postgres/ids";
import { newRow } from "@statehouse/postgres/new-row";
import { ownersTeamProtected } from "../errors-domain.ts";
import type { OrganizationId, OrganizationMembershipId, TeamId, UserId } from "../ids-domain.ts";
import { alternatives } from "../permissions-domain.ts";

export const OWNERS = "owners";

export const visibilities = ["secret", "organization"] as const;
export type Visibility = (typeof visibilities)[number];

/** A team: users of one organization with the same permissions. */
export class Team {
  declare readonly id: TeamId;
  declare readonly organizationId: OrganizationId;
  /** Unique in the organization. */
  declare name: string;
  declare visibility: Visibility;
  declare organizationAccess: string[];
  /** Whether the team is the owners team, whose members have every permission. Each organization has exactly one. */
  declare readonly owners: boolean;
  declare description: string | null;
  /** An id that tools use to map groups of an identity provider to teams. Statehouse only stores it. */
  declare ssoTeamId: string | null;
  /** Whether the team's members may manage the team's tokens. */
  declare allowMemberTokenManagement: boolean;
  declare readonly createdAt: Date;
}

/** Creates a team with default settings. */
export const newTeam = (
  fields: Pick<Team, "organizationId" | "name" | "owners" | "createdAt">,
): Team =>
  newRow(Team, {
    ...fields,
    id: newId("team"),
    visibility: "secret",
    organizationAccess: [],
    description: null,
    ssoTeamId: null,
    allowMemberTokenManagement: true,
  });

/** A team with the members that its document shows. */
export type TeamView = Team & {
  members: { userId: UserId; organizationMembershipId: OrganizationMembershipId }[];
};

/**
 * Settings in a create or update request. An undefined setting has its default on creation and keeps its value on
 * update.
 */
export interface TeamSettings {
  name: string | undefined;
  /** An empty string means `secret`. */
  visibility: string | undefined;
  /** Maps each permission of the request to its value. */
  organizationAccess: Readonly<Record<string, unknown>>;
  /** An empty string means null. */
  description: string | undefined;
  /** An empty string means null. */
  ssoTeamId: string | undefined;
  allowMemberTokenManagement: boolean | undefined;
}

// Letters, digits, space, `-`, `_`, `/` and `.`, with no space at either end.
const NAME = /^(?! )[A-Za-z0-9 _/.-]{1,90}(?<! )$/;
const SSO_TEAM_ID_LENGTH = 255;
const DESCRIPTION_LENGTH = 1000;
const known: ReadonlySet<string> = new Set<OrganizationAccess>(organizationAccessNames);

/** Returns whether a team name is valid. */
export const isTeamName = (name: string): boolean => NAME.test(name);

/**
 * Returns whether a name can be mistaken for the name of the owners team. The owners team itself is created with its
 * organization, without this check.
 */
export const looksLikeOwners = (name: string): boolean =>
  name
    .toLowerCase()
    .replaceAll(/[ _/.-]/g, "")
    .replaceAll("0", "o")
    .replaceAll("vv", "w")
    .replaceAll("3", "e")
    .replaceAll("5", "s") === OWNERS;

/** Returns the visibility with this name. Returns `secret` if the name is empty, and undefined if it is unknown. */
export const visibilityOf = (name: string): Visibility | undefined =>
  name === "" ? "secret" : visibilities.find((visibility) => visibility === name);

/**
 * Applies the settings to the team and adds violated rules to `problems`. Throws the conflict `owners_team` if the
 * request renames the owners team.
 */
export function applyTeamSettings(team: Team, settings: TeamSettings, problems: Problems): void {
  const { name, description, ssoTeamId, allowMemberTokenManagement } = settings;
  if (name !== undefined && name !== team.name) {
    if (team.owners) throw ownersTeamProtected();
    team.name = name;
  }
  if (!isTeamName(team.name)) problems.add("name", "Name is invalid");
  if (settings.visibility !== undefined) {
    const visibility = visibilityOf(settings.visibility);
    if (visibility) team.visibility = visibility;
    else problems.add("visibility", `Visibility must be ${alternatives(visibilities)}`);
  }
  const access = new Set(team.organizationAccess);
  for (const [permission, on] of Object.entries(settings.organizationAccess)) {
    const field = `organizationAccess[${permission}]`;
    if (!known.has(permission))
      problems.add(field, `Organization access ${quoted(permission)} is unknown`);
    else if (typeof on !== "boolean")
      problems.add(field, `${inWords(permission)} must be true or false`);
    else if (on) access.add(permission);
    else access.delete(permission);
  }
  team.organizationAccess = [...access].toSorted();
  if (description !== undefined) {
    if (description.length > DESCRIPTION_LENGTH) {
      const most = `maximum is ${DESCRIPTION_LENGTH} characters`;
      problems.add("description", `Description is too long (${most})`);
    }
    team.description = description || null;
  }
  if (ssoTeamId !== undefined) {
    if (ssoTeamId.length > SSO_TEAM_ID_LENGTH) problems.add("ssoTeamId", "Sso team id is invalid");
    team.ssoTeamId = ssoTeamId || null;
  }
  if (allowMemberTokenManagement !== undefined) {
    team.allowMemberTokenManagement = allowMemberTokenManagement;
  }
}

/** Returns whether a request changes the value of a permission. */
export const changesOrganizationAccess = (
  { organizationAccess }: Pick<Team, "organizationAccess">,
  requested: TeamSettings["organizationAccess"],
): boolean =>
  Object.entries(requested).some(
    ([permission, on]) => on !== organizationAccess.includes(permission),
  );

/** The values of a caller's grants that decide which teams of an organization the caller sees. */
export interface TeamViewer {
  owner: boolean;
  teamIds: readonly string[];
  seesSecretTeams?: boolean;
}

/**
 * Returns whether the viewer sees the team. Owners and viewers with `seesSecretTeams` see all teams; other viewers see
 * their own teams and all teams that are not secret.
 */
export const teamIsVisible = (
  team: { id: string; visibility: string },
  { owner, teamIds, seesSecretTeams = false }: TeamViewer,
): boolean =>
  owner || seesSecretTeams || team.visibility === "organization" || teamIds.includes(team.id);
