import type { OrganizationId } from "./ids.ts";

/** What access keeps of an organization. Whoever changes its teams, memberships or grants locks this row first. */
export class Organization {
  declare readonly id: OrganizationId;
  /** Grows with every change of teams, memberships, grants and settings. */
  declare version: bigint;
  /** The highest version of the row at workspaces that was provisioned here. */
  declare provisionedVersion: bigint;
  /** False: user tokens are unauthenticated in its name. */
  declare userTokensEnabled: boolean;
  /** Of the row at workspaces when its settings were last told. */
  declare settingsVersion: bigint;
  declare readonly createdAt: Date;
  /** A tombstone since then: nothing of it is left but this row. */
  declare droppedAt: Date | null;

  constructor(values: Organization) {
    Object.assign(this, values);
  }
}
