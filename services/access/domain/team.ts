import type { FieldError } from "@statehouse/errors";
import { invalidTeamName, invalidVisibility, unknownOrganizationAccess } from "./errors.ts";
import type { OrganizationId, TeamId } from "./ids.ts";
import { isOrganizationAccess } from "./organization-access.ts";

export const OWNERS = "owners";

export const visibilities = ["secret", "organization"] as const;
export type Visibility = (typeof visibilities)[number];

/** People of one organization who hold the same rights. */
export class Team {
  declare readonly id: TeamId;
  declare readonly organizationId: OrganizationId;
  /** Unique in the organization. */
  declare readonly name: string;
  declare readonly visibility: Visibility;
  declare readonly organizationAccess: string[];
  /** The team whose members may do everything. One for each organization, whatever its name. */
  declare readonly owners: boolean;
  declare readonly createdAt: Date;

  constructor(values: Team) {
    Object.assign(this, values);
  }
}

/** A team with what its document shows beside. */
export interface CountedTeam {
  team: Team;
  usersCount: number;
}

/** What a request says of a new team. */
export interface TeamInput {
  name: string;
  /** `secret` when empty. */
  visibility: string;
  organizationAccess: readonly string[];
}

const NAME = /^[A-Za-z0-9_-]{1,90}$/;

/** The visibility of that name, `secret` when it is empty. */
export const visibilityOf = (name: string): Visibility | undefined =>
  name === "" ? "secret" : visibilities.find((visibility) => visibility === name);

/** What is wrong with a new team by itself. */
export function teamProblems({ name, visibility, organizationAccess }: TeamInput): FieldError[] {
  const problems: FieldError[] = [];
  if (!NAME.test(name)) problems.push(invalidTeamName);
  if (!visibilityOf(visibility)) problems.push(invalidVisibility);
  for (const permission of organizationAccess) {
    if (!isOrganizationAccess(permission)) problems.push(unknownOrganizationAccess(permission));
  }
  return problems;
}

/** What somebody holds in the organization of a team. */
export interface Membership {
  owner: boolean;
  teamIds: readonly string[];
}

/** Whether a member of the organization may see the team: owners all, others theirs and the visible ones. */
export const teamIsVisible = (
  team: Pick<Team, "id" | "visibility">,
  { owner, teamIds }: Membership,
): boolean => owner || team.visibility === "organization" || teamIds.includes(team.id);
