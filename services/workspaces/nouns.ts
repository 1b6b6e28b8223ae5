import { type AuditRecord, recorders } from "@statehouse/audit";
import { createListing, type ListingSource, type Published } from "@statehouse/events";
import {
  createTransactions,
  type Database,
  entitiesOf,
  type PartsOf,
  partsOf,
  type TxOf,
  tablesOfOrganization,
} from "@statehouse/postgres";
import { administeredWorkspaces } from "./administered-workspace/store.ts";
import { agentPools } from "./agent-pool/store.ts";
import { configurationVersions } from "./configuration-version/store.ts";
import { dataRetentionPolicies } from "./data-retention-policy/store.ts";
import { generalSettings } from "./general-settings/store.ts";
import { organizations } from "./organization/store.ts";
import { organizationDeletions } from "./organization-deletion/store.ts";
import { pendingSyncs } from "./pending-sync/store.ts";
import { performance } from "./performance/store.ts";
import { projects } from "./project/store.ts";
import { remoteStateConsumers } from "./remote-state-consumer/store.ts";
import { reservedTagKeys } from "./reserved-tag-key/store.ts";
import { runs } from "./run/store.ts";
import { sshKeys } from "./ssh-key/store.ts";
import { stateComparisons } from "./state-comparison/store.ts";
import { tags } from "./tag/store.ts";
import { tagBindings } from "./tag-binding/store.ts";
import { workspaces } from "./workspace/store.ts";
import { workspaceDeletions } from "./workspace-deletion/store.ts";
import { workspaceReadmes } from "./workspace-readme/store.ts";

/**
 * All nouns of the store; no other file lists them. A noun has some of these parts:
 * - `entity`: its ORM schema.
 * - `rows`: its operations inside a transaction (`tx.<noun>`).
 * - `reads`: its queries outside any transaction, which change nothing (`app.reads.<noun>`).
 * - `leases`: single statements outside any transaction that claim and complete work (`app.leases.<noun>`).
 * - `listed`: its objects as events, for subscribers. Every noun with events has it.
 * - `deletedWithOrganization`: the table whose rows are deleted with their organization.
 * The rows of these tables are deleted in the order of this list: a table must precede the tables that it refers to.
 */
const nouns = {
  organizations,
  organizationDeletions,
  generalSettings,
  tagBindings,
  tags,
  reservedTagKeys,
  sshKeys,
  dataRetentionPolicies,
  projects,
  agentPools,
  workspaces,
  administeredWorkspaces,
  workspaceDeletions,
  runs,
  remoteStateConsumers,
  performance,
  configurationVersions,
  workspaceReadmes,
  pendingSyncs,
  stateComparisons,
};

type Nouns = typeof nouns;

export type Tx = TxOf<Nouns, Published, AuditRecord>;
export type Reads = PartsOf<Nouns, "reads">;
export type Leases = PartsOf<Nouns, "leases">;

export const entities = entitiesOf(nouns);

export const listing = (source: ListingSource) => createListing(nouns, source);

export const createReads = (database: Database): Reads => partsOf(nouns, "reads")(database);

export const createLeases = (database: Database): Leases => partsOf(nouns, "leases")(database);

export const transactions = (database: Database) =>
  createTransactions(database, nouns, recorders, tablesOfOrganization(nouns));
