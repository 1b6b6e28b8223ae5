import { nextVersion } from "@statehouse/events/version";
import type { OrganizationId } from "./ids.ts";

/** The row that is locked before teams, memberships or grants of an organization change. */
export class Organization {
  declare readonly id: OrganizationId;
  /** Grows with every change of teams, memberships, grants and settings. */
  declare version: bigint;
  /** The highest version of the service workspaces' row that was stored here. */
  declare provisionedVersion: bigint;
  /** False: requests with user tokens are unauthenticated in this organization. */
  declare userTokensEnabled: boolean;
  /** True: tokens live no longer than the organization's token lifetime policies allow. */
  declare maxTtlEnabled: boolean;
  /** The version of the service workspaces' row that the settings come from. */
  declare settingsVersion: bigint;
  declare readonly createdAt: Date;
  /** Set on a tombstone: only this row remains of the organization. */
  declare droppedAt: Date | null;

  constructor(fields: Organization) {
    Object.assign(this, fields);
  }
}

/** The settings that restrict credentials; the workspaces service sends them. */
const credentialSettings = ["userTokensEnabled", "maxTtlEnabled"] as const;

export type CredentialSettings = Pick<Organization, (typeof credentialSettings)[number]>;

/** Applies them. Returns whether one changed. */
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
): Organization =>
  new Organization({
    id,
    version: nextVersion(0n, createdAt),
    provisionedVersion,
    userTokensEnabled: true,
    maxTtlEnabled: false,
    settingsVersion: 0n,
    createdAt,
    droppedAt: null,
  });
