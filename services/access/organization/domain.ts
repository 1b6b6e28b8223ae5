import { nextVersion } from "@statehouse/events/version";
import { newRow } from "@statehouse/postgres/new-row";
import type { OrganizationId } from "../ids-domain.ts";

/** An organization in this service. Its row is locked before its teams, memberships or grants change. */
export class Organization {
  declare readonly id: OrganizationId;
  /**
   * Version of the organization; grows with every change of its teams, memberships, grants, settings and token lifetime
   * policies.
   */
  declare version: bigint;
  /**
   * The highest version that `provisionOrganization` has received. It is a version of the organization's row in the
   * workspaces service.
   */
  declare provisionedVersion: bigint;
  /** If false, the organization does not accept user tokens. */
  declare userTokensEnabled: boolean;
  /** If true, the organization's token lifetime policies limit the lifetime of tokens. */
  declare maxTtlEnabled: boolean;
  /**
   * The version that the organization's row in the workspaces service had when that service sent `userTokensEnabled`
   * and `maxTtlEnabled`.
   */
  declare settingsVersion: bigint;
  declare readonly createdAt: Date;
  /**
   * The time at which the organization was deleted. The row is then a tombstone, and the organization has no other
   * rows.
   */
  declare droppedAt: Date | null;
}

/** The settings that restrict credentials. The workspaces service sends them. */
const credentialSettings = ["userTokensEnabled", "maxTtlEnabled"] as const;

export type CredentialSettings = Pick<Organization, (typeof credentialSettings)[number]>;

/** Applies the settings. Returns whether one of them changed. */
export function applyCredentialSettings(
  organization: Organization,
  settings: CredentialSettings,
): boolean {
  const changed = credentialSettings.filter((name) => organization[name] !== settings[name]);
  for (const name of changed) organization[name] = settings[name];
  return changed.length > 0;
}

export const newOrganization = (
  id: OrganizationId,
  provisionedVersion: bigint,
  createdAt: Date,
  settings: CredentialSettings = { userTokensEnabled: true, maxTtlEnabled: false },
): Organization =>
  newRow(Organization, {
    id,
    version: nextVersion(0n, createdAt),
    provisionedVersion,
    ...settings,
    settingsVersion: provisionedVersion,
    createdAt,
    droppedAt: null,
  });
