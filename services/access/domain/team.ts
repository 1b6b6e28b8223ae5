import { type OrganizationAccess, organizationAccessNames } from "@statehouse/authorization";
import type { FieldError } from "@statehouse/errors";
import {
  badOrganizationAccess,
  invalidSsoTeamId,
  invalidTeamName,
  invalidVisibility,
  ownersTeamStays,
  unknownOrganizationAccess,
} from "./errors.ts";
import type { OrganizationId, OrganizationMembershipId, TeamId, UserId } from "./ids.ts";

export const OWNERS = "owners";

export const visibilities = ["secret", "organization"] as const;
export type Visibility = (typeof visibilities)[number];

/** People of one organization who hold the same rights. */
export class Team {
  declare readonly id: TeamId;
  declare readonly organizationId: OrganizationId;
  /** Unique in the organization. */
  declare name: string;
  declare visibility: Visibility;
  declare organizationAccess: string[];
  /** The team whose members may do everything. One for each organization, whatever its name. */
  declare readonly owners: boolean;
  /** A record for who maps an identity provider's groups. */
  declare ssoTeamId: string | null;
  /** Whether its members may manage its tokens. */
  declare allowMemberTokenManagement: boolean;
  declare readonly createdAt: Date;

  constructor(values: Team) {
    Object.assign(this, values);
  }
}

/** A team with what its document shows beside. */
export interface TeamView {
  team: Team;
  members: { userId: UserId; organizationMembershipId: OrganizationMembershipId }[];
}

/** What a request says of a team. Undefined: the default, or the value it has. */
export interface TeamSettings {
  name: string | undefined;
  /** `secret` when empty. */
  visibility: string | undefined;
  /** By permission. */
  organizationAccess: Readonly<Record<string, unknown>>;
  /** Empty: none. */
  ssoTeamId: string | undefined;
  allowMemberTokenManagement: boolean | undefined;
}

const NAME = /^[A-Za-z0-9_-]{1,90}$/;
const SSO_TEAM_ID_LENGTH = 255;
const known: ReadonlySet<string> = new Set<OrganizationAccess>(organizationAccessNames);

/** Whether a team could be called so. */
export const isTeamName = (name: string): boolean => NAME.test(name);

/** The visibility of that name, `secret` when it is empty. */
export const visibilityOf = (name: string): Visibility | undefined =>
  name === "" ? "secret" : visibilities.find((visibility) => visibility === name);

/**
 * Gives the team those settings; answers with what is wrong with them by themselves. Throws the conflict
 * `owners_team` on another name for the owners.
 */
export function applyTeamSettings(team: Team, settings: TeamSettings): FieldError[] {
  const problems: FieldError[] = [];
  const { name, ssoTeamId, allowMemberTokenManagement } = settings;
  if (name !== undefined && name !== team.name) {
    if (team.owners) throw ownersTeamStays();
    if (!isTeamName(name)) problems.push(invalidTeamName);
    team.name = name;
  }
  if (settings.visibility !== undefined) {
    const visibility = visibilityOf(settings.visibility);
    if (visibility) team.visibility = visibility;
    else problems.push(invalidVisibility);
  }
  const access = new Set(team.organizationAccess);
  for (const [permission, on] of Object.entries(settings.organizationAccess)) {
    if (!known.has(permission)) problems.push(unknownOrganizationAccess(permission));
    else if (typeof on !== "boolean") problems.push(badOrganizationAccess(permission));
    else if (on) access.add(permission);
    else access.delete(permission);
  }
  team.organizationAccess = [...access].toSorted();
  if (ssoTeamId !== undefined) {
    if (ssoTeamId.length > SSO_TEAM_ID_LENGTH) problems.push(invalidSsoTeamId);
    team.ssoTeamId = ssoTeamId || null;
  }
  if (allowMemberTokenManagement !== undefined) {
    team.allowMemberTokenManagement = allowMemberTokenManagement;
  }
  return problems;
}

/** Whether a request gives a permission another value than the team has. */
export const changesOrganizationAccess = (
  { organizationAccess }: Pick<Team, "organizationAccess">,
  wanted: TeamSettings["organizationAccess"],
): boolean =>
  Object.entries(wanted).some(([permission, on]) => on !== organizationAccess.includes(permission));

/** What somebody holds in the organization of a team. */
export interface Membership {
  owner: boolean;
  teamIds: readonly string[];
  seesSecretTeams?: boolean;
}

/** Whether a member of the organization may see the team: owners all, others theirs and the visible ones. */
export const teamIsVisible = (
  team: { id: string; visibility: string },
  { owner, teamIds, seesSecretTeams = false }: Membership,
): boolean =>
  owner || seesSecretTeams || team.visibility === "organization" || teamIds.includes(team.id);
