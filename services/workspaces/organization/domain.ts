import { forbidden, inWords, notFound, Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { newRow } from "@statehouse/postgres/new-row";
import type { DataRetentionPolicyView } from "../data-retention-policy/domain.ts";
import { applyDefaultExecution, type DefaultExecutionInput } from "../execution/default-domain.ts";
import type { ExecutionMode } from "../execution/domain.ts";
import type { AgentPoolId, OrganizationId, ProjectId } from "../ids-domain.ts";
import { RETRY_AFTER_MS } from "../pending-sync/domain.ts";
import { touch } from "../revision-domain.ts";
import { checkText, limits } from "../text-domain.ts";
import { type Plan, topPlan } from "./plan-domain.ts";

/**
 * The status of an organization:
 * - `provisioning`: its row is committed, but the access service has not confirmed it. No caller sees it, but its name
 * is taken. Its creator can repeat the creation.
 * - `active`: it is visible to its members.
 * - `deleting`: its data is being deleted. No caller sees it, and its name is free.
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
  /** Set if and only if the default mode is `agent`. */
  declare defaultAgentPoolId: AgentPoolId | null;
  declare allowForceDeleteWorkspaces: boolean;
  declare assessmentsEnforced: boolean;
  declare userTokensEnabled: boolean;
  declare maxTtlEnabled: boolean;
  declare collaboratorAuthPolicy: CollaboratorAuthPolicy;
  declare costEstimationEnabled: boolean;
  declare sendPassingStatusesForUntriggeredSpeculativePlans: boolean;
  declare aggregatedCommitStatusEnabled: boolean;
  declare speculativePlanManagementEnabled: boolean;
  /** In minutes, like `sessionRemember`; null until a request sets it. Both values are only stored and shown. */
  declare sessionTimeout: number | null;
  declare sessionRemember: number | null;
  declare ownersTeamSamlRoleId: string | null;
  declare plan: Plan;
  /** Maximum number of workspaces in the organization; null for no limit. */
  declare workspaceLimit: number | null;
  /** The time at which reconciliation repeats the creation if it was interrupted. */
  declare retryAt: Date;
  declare revision: bigint;
  declare createdAt: Date;
  declare updatedAt: Date;
}

export interface NewOrganization {
  id: OrganizationId;
  defaultProjectId: ProjectId;
  creatorUserId: string;
  /** The installation's default for new organizations. */
  defaultExecutionMode: ExecutionMode;
  name: string;
  settings: OrganizationSettings;
}

const NAME = /^[A-Za-z0-9_-]{3,40}$/;

/** Returns whether an organization name is valid. */
export const isOrganizationName = (name: string): boolean => NAME.test(name);

/**
 * Returns the problem of an invalid name, in the exact words that clients search for; undefined if the name is valid.
 */
export function problemOfOrganizationName(name: string): string | undefined {
  if (name === "") return "Name can't be blank";
  return isOrganizationName(name) ? undefined : "Name is invalid";
}

/**
 * Creates an organization in the status `provisioning`. It is committed before the access service is called. Throws
 * `invalid` with all problems of the request.
 */
export function newOrganization({ settings, ...input }: NewOrganization, now: Date): Organization {
  const problems = new Problems();
  const problem = problemOfOrganizationName(input.name);
  if (problem !== undefined) problems.add("name", problem);
  const organization = newRow(Organization, {
    ...input,
    email: "",
    status: "provisioning",
    defaultAgentPoolId: null,
    allowForceDeleteWorkspaces: false,
    assessmentsEnforced: false,
    userTokensEnabled: true,
    maxTtlEnabled: false,
    collaboratorAuthPolicy: "password",
    costEstimationEnabled: false,
    sendPassingStatusesForUntriggeredSpeculativePlans: false,
    aggregatedCommitStatusEnabled: true,
    speculativePlanManagementEnabled: true,
    sessionTimeout: null,
    sessionRemember: null,
    ownersTeamSamlRoleId: null,
    plan: topPlan,
    workspaceLimit: null,
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

/** Makes the organization invisible and frees its name. */
export function beginOrganizationDeletion(organization: Organization, now: Date): void {
  organization.status = "deleting";
  // The `~` prevents conflicts with other organizations: it is not allowed in names that users choose.
  organization.name = `~${organization.id}`;
  touch(organization, now);
}

/** The values of an organization's document. Only active organizations have documents. */
export type OrganizationView = Omit<
  Organization,
  "status" | "creatorUserId" | "retryAt" | "revision" | "updatedAt"
> & {
  /** The organization's own policy; null if the policy of the installation applies. */
  dataRetentionPolicy: DataRetentionPolicyView | null;
  /** The installation's policy, which applies if the organization has none. */
  siteDataRetentionPolicy: DataRetentionPolicyView | null;
  /** Null for callers who cannot read all projects. */
  projectCount: number | null;
  /** Null for callers who cannot read all workspaces. */
  workspaceCount: number | null;
};

const booleans = [
  "allowForceDeleteWorkspaces",
  "assessmentsEnforced",
  "userTokensEnabled",
  "maxTtlEnabled",
  "costEstimationEnabled",
  "sendPassingStatusesForUntriggeredSpeculativePlans",
  "aggregatedCommitStatusEnabled",
  "speculativePlanManagementEnabled",
] as const satisfies readonly (keyof Organization)[];

/** The settings that the access service enforces. */
const credentialSettings = [
  "userTokensEnabled",
  "maxTtlEnabled",
] as const satisfies readonly (typeof booleans)[number][];

export type CredentialSettings = Pick<Organization, (typeof credentialSettings)[number]>;

/** The settings that the access service enforces, and the revision of the organization's row as `version`. */
export interface VersionedCredentialSettings extends CredentialSettings {
  organizationId: OrganizationId;
  version: bigint;
}

/** Returns whether a request contains a setting that the access service enforces. */
export const changesCredentials = (settings: OrganizationSettings): boolean =>
  credentialSettings.some((name) => settings[name] !== undefined);

/** In minutes. */
const durations = [
  "sessionTimeout",
  "sessionRemember",
] as const satisfies readonly (keyof Organization)[];

/**
 * Settings in a create or update request. An absent setting has its default on creation and keeps its value on update.
 */
export type OrganizationSettings = DefaultExecutionInput & {
  email?: string | undefined;
  collaboratorAuthPolicy?: string | undefined;
  ownersTeamSamlRoleId?: string | undefined;
} & { [Name in (typeof booleans)[number]]?: boolean | undefined } & {
  [Name in (typeof durations)[number]]?: number | undefined;
};

interface ValidationContext {
  problems: Problems;
  /** Whether the requested default pool belongs to the organization. */
  poolKnown?: boolean;
}

// Accepts one @ between a local part and a host with a dot. A stricter check would be useless: only a message that is
// sent to an address shows whether it exists.
const EMAIL = /^[^\s@]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?\.[A-Za-z]{2,63}$/;

/** Applies settings to the organization and adds violated rules to `problems`. */
export function applyOrganizationSettings(
  organization: Organization,
  settings: OrganizationSettings,
  { problems, poolKnown = false }: ValidationContext,
): void {
  if (settings.email !== undefined) {
    if (settings.email === "") problems.add("email", "Email can't be blank");
    else if (!EMAIL.test(settings.email)) problems.add("email", "Email is invalid");
    organization.email = settings.email;
  }
  for (const name of booleans) {
    const value = settings[name];
    if (value !== undefined) organization[name] = value;
  }
  for (const name of durations) {
    const value = settings[name];
    if (value === undefined) continue;
    if (value < 1) problems.add(name, `${inWords(name)} must be above 0`);
    organization[name] = value;
  }
  const { collaboratorAuthPolicy, ownersTeamSamlRoleId } = settings;
  if (collaboratorAuthPolicy !== undefined) {
    if (isCollaboratorAuthPolicy(collaboratorAuthPolicy))
      organization.collaboratorAuthPolicy = collaboratorAuthPolicy;
    else problems.add("collaboratorAuthPolicy", "Collaborator auth policy is invalid");
  }
  if (ownersTeamSamlRoleId !== undefined) {
    checkText("ownersTeamSamlRoleId", ownersTeamSamlRoleId, limits.samlRoleId, problems);
    organization.ownersTeamSamlRoleId = ownersTeamSamlRoleId || null;
  }
  applyDefaultExecution(organization, settings, { problems, poolKnown });
}

/**
 * Whether members need a second factor. The value is only stored and returned: Statehouse has no sign-in with a
 * password.
 */
export const collaboratorAuthPolicies = ["password", "two_factor_mandatory"] as const;

export type CollaboratorAuthPolicy = (typeof collaboratorAuthPolicies)[number];

/** Returns whether a string of a request is a collaborator auth policy. */
export const isCollaboratorAuthPolicy = (text: string): text is CollaboratorAuthPolicy =>
  collaboratorAuthPolicies.some((policy) => policy === text);

/** The problem if a workspace is to be created in an organization that has reached its workspace limit. */
export const workspaceLimitReached = (limit: number) =>
  `The organization has reached its limit of ${limit} workspaces.`;

export const organizationNotFound = () => notFound("organization");

/** Thrown if the caller that creates an organization is not a user. */
export const organizationCreatorNotUser = () =>
  forbidden("users_only", "Only a user can create an organization.");
