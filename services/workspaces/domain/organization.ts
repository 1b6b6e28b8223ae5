import type { FieldError } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import type { CollaboratorAuthPolicy } from "./collaborator-auth-policy.ts";
import type { ExecutionMode } from "./execution-mode.ts";
import type { AgentPoolId, OrganizationId, ProjectId } from "./ids.ts";
import { applyOrganizationSettings, type OrganizationSettings } from "./organization-settings.ts";
import { type Plan, topPlan } from "./plan.ts";
import { Problems } from "./problems.ts";
import { RETRY_AFTER_MS } from "./retry.ts";

/**
 * `provisioning`: committed here, not yet acknowledged by access. Nobody but its creator, who can
 * repeat the creation, may notice it; its name is taken.
 * `deleting`: gone for everybody; its name is free, and what belonged to it is being taken away.
 */
export type OrganizationStatus = "provisioning" | "active" | "deleting";

export class Organization {
  declare id: OrganizationId;
  declare name: string;
  declare email: string;
  declare status: OrganizationStatus;
  declare creatorUserId: string;
  declare defaultProjectId: ProjectId;
  declare defaultExecutionMode: ExecutionMode;
  /** Set exactly while the default mode is `agent`. */
  declare defaultAgentPoolId: AgentPoolId | null;
  declare allowForceDeleteWorkspaces: boolean;
  declare assessmentsEnforced: boolean;
  declare userTokensEnabled: boolean;
  declare collaboratorAuthPolicy: CollaboratorAuthPolicy;
  declare costEstimationEnabled: boolean;
  declare sendPassingStatusesForUntriggeredSpeculativePlans: boolean;
  declare aggregatedCommitStatusEnabled: boolean;
  declare speculativePlanManagementEnabled: boolean;
  /** In minutes; null: the installation's. */
  declare sessionTimeout: number | null;
  declare sessionRemember: number | null;
  declare ownersTeamSamlRoleId: string | null;
  declare plan: Plan;
  /** When a provisioning that came to nothing is taken up again by whoever looks. */
  declare retryAt: Date;
  declare revision: bigint;
  declare createdAt: Date;
  declare updatedAt: Date;

  constructor(fields: Fields) {
    Object.assign(this, fields);
  }
}

type Fields = { [Name in keyof Organization]: Organization[Name] };

export interface NewOrganization {
  id: OrganizationId;
  defaultProjectId: ProjectId;
  creatorUserId: string;
  /** Of the installation. */
  defaultExecutionMode: ExecutionMode;
  name: string;
  settings: OrganizationSettings;
  /** What is known to be wrong with the wish. */
  problems?: readonly FieldError[];
}

const NAME = /^[A-Za-z0-9_-]{3,40}$/;

/** Whether an organization can have this name at all. */
export const isOrganizationName = (name: string): boolean => NAME.test(name);

/** What is wrong with a name, in the words that clients show. */
export function problemOfOrganizationName(name: string): string | undefined {
  if (name === "") return "Name can't be blank";
  return isOrganizationName(name) ? undefined : "Name is invalid";
}

/** An organization as it is committed before access knows of it. Throws `invalid` with every problem. */
export function newOrganization(
  { settings, problems: known, ...wanted }: NewOrganization,
  now: Date,
): Organization {
  const problems = new Problems(known);
  const problem = problemOfOrganizationName(wanted.name);
  if (problem !== undefined) problems.add("name", problem);
  const organization = new Organization({
    ...wanted,
    email: "",
    status: "provisioning",
    defaultAgentPoolId: null,
    allowForceDeleteWorkspaces: false,
    assessmentsEnforced: false,
    userTokensEnabled: true,
    collaboratorAuthPolicy: "password",
    costEstimationEnabled: false,
    sendPassingStatusesForUntriggeredSpeculativePlans: false,
    aggregatedCommitStatusEnabled: true,
    speculativePlanManagementEnabled: true,
    sessionTimeout: null,
    sessionRemember: null,
    ownersTeamSamlRoleId: null,
    plan: topPlan,
    retryAt: new Date(now.getTime() + RETRY_AFTER_MS),
    revision: nextVersion(0n, now),
    createdAt: now,
    updatedAt: now,
  });
  applyOrganizationSettings(
    organization,
    { ...settings, email: settings.email ?? "" },
    { problems },
  );
  problems.throwIfAny();
  return organization;
}

/** Marks a change that others may see. */
export function touchOrganization(organization: Organization, now: Date): void {
  organization.revision = nextVersion(organization.revision, now);
  organization.updatedAt = now;
}

/** Gone for everybody from now on, with its name free for others. */
export function beginOrganizationDeletion(organization: Organization, now: Date): void {
  organization.status = "deleting";
  // No name that anybody could ask for.
  organization.name = `~${organization.id}`;
  touchOrganization(organization, now);
}
