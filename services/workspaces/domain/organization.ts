import type { ExecutionMode } from "./execution-mode.ts";
import type { OrganizationId, ProjectId } from "./ids.ts";
import { Problems } from "./problems.ts";
import { RETRY_AFTER_MS } from "./retry.ts";
import { nextVersion } from "./version.ts";

/**
 * `provisioning`: committed here, not yet acknowledged by access. Nobody but its creator, who can
 * repeat the creation, may notice it; its name is taken.
 */
export type OrganizationStatus = "provisioning" | "active";

export class Organization {
  declare id: OrganizationId;
  declare name: string;
  declare email: string;
  declare status: OrganizationStatus;
  declare creatorUserId: string;
  declare defaultProjectId: ProjectId;
  declare defaultExecutionMode: ExecutionMode;
  declare allowForceDeleteWorkspaces: boolean;
  declare assessmentsEnforced: boolean;
  declare userTokensEnabled: boolean;
  declare collaboratorAuthPolicy: string;
  declare costEstimationEnabled: boolean;
  declare sendPassingStatusesForUntriggeredSpeculativePlans: boolean;
  declare aggregatedCommitStatusEnabled: boolean;
  declare speculativePlanManagementEnabled: boolean;
  declare plan: string;
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
  defaultExecutionMode: ExecutionMode;
  name: string;
  email: string;
}

const NAME = /^[A-Za-z0-9_-]{3,40}$/;
// One @ between something and a host with a dot; whether it exists, only a message sent there tells.
const EMAIL = /^[^\s@]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?\.[A-Za-z]{2,63}$/;

/** Whether an organization can have this name at all. */
export const isOrganizationName = (name: string): boolean => NAME.test(name);

/** An organization as it is committed before access knows of it. Throws `invalid` with every problem. */
export function newOrganization(wanted: NewOrganization, now: Date): Organization {
  const problems = new Problems();
  if (wanted.name === "") problems.add("name", "Name can't be blank");
  else if (!isOrganizationName(wanted.name)) problems.add("name", "Name is invalid");
  if (wanted.email === "") problems.add("email", "Email can't be blank");
  else if (!EMAIL.test(wanted.email)) problems.add("email", "Email is invalid");
  problems.throwIfAny();
  return new Organization({
    ...wanted,
    status: "provisioning",
    allowForceDeleteWorkspaces: false,
    assessmentsEnforced: false,
    userTokensEnabled: true,
    collaboratorAuthPolicy: "password",
    costEstimationEnabled: false,
    sendPassingStatusesForUntriggeredSpeculativePlans: false,
    aggregatedCommitStatusEnabled: true,
    speculativePlanManagementEnabled: true,
    plan: "premium",
    retryAt: new Date(now.getTime() + RETRY_AFTER_MS),
    revision: nextVersion(0n, now),
    createdAt: now,
    updatedAt: now,
  });
}
