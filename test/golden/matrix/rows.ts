import { membershipRows, teamAccessRows, tokenRows } from "./access-rows.ts";
import { installationRows, organizationRows } from "./organization-rows.ts";
import type { Row } from "./row.ts";
import {
  backingDataRows,
  lockRows,
  objectRows,
  projectRows,
  stateRows,
  workspaceRows,
} from "./workspace-rows.ts";

/** Every route of the product with its permitted callers, in the order of the authorization matrix. */
export const rowGroups: Readonly<Record<string, readonly Row[]>> = {
  Installation: installationRows,
  "Users and tokens": tokenRows,
  "Memberships and teams": membershipRows,
  "Team access": teamAccessRows,
  Organizations: organizationRows,
  Projects: projectRows,
  Workspaces: workspaceRows,
  Locks: lockRows,
  "State versions": stateRows,
  "State bytes": objectRows,
  "Backing data": backingDataRows,
};

export const rows: readonly Row[] = Object.values(rowGroups).flat();
