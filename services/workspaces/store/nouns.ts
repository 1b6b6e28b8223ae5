import { type AuditRecord, recordChange, recordEventChange } from "@statehouse/audit";
import {
  createListing,
  createRecorder,
  type EventOf,
  type ListingSource,
} from "@statehouse/events";
import {
  createTransactions,
  type Database,
  entitiesOf,
  type PartsOf,
  partsOf,
  type TxOf,
  tablesOfOrganization,
} from "@statehouse/postgres";
import { administeredWorkspaces } from "./administered-workspace.ts";
import { agentPools } from "./agent-pool.ts";
import { configurationVersions } from "./configuration-version.ts";
import { dataRetentionPolicies } from "./data-retention-policy.ts";
import { generalSettings } from "./general-settings.ts";
import { organizations } from "./organization.ts";
import { organizationDeletions } from "./organization-deletion.ts";
import { pendingSyncs } from "./pending-sync.ts";
import { performance } from "./performance.ts";
import { projects } from "./project.ts";
import { remoteStateConsumers } from "./remote-state-consumer.ts";
import { reservedTagKeys } from "./reserved-tag-key.ts";
import { runs } from "./run.ts";
import { sshKeys } from "./ssh-key.ts";
import { stateComparisons } from "./state-comparison.ts";
import { tags } from "./tag.ts";
import { tagBindings } from "./tag-binding.ts";
import { workspaces } from "./workspace.ts";
import { workspaceDeletions } from "./workspace-deletion.ts";
import { workspaceLists } from "./workspace-list.ts";
import { workspaceReadmes } from "./workspace-readme.ts";

/**
 * All nouns of the store; no other file lists them. A noun has some of these parts:
 * - `entity`: its ORM schema.
 * - `rows`: its operations inside a transaction (`tx.<noun>`).
 * - `reads`: its queries outside any transaction, which change nothing (`app.reads.<noun>`).
 * - `leases`: single statements outside any transaction that claim and complete work (`app.leases.<noun>`).
 * - `published`: the messages of its events.
 * - `listed`: its objects as events, for subscribers.
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
  workspaceLists,
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

export type Tx = TxOf<Nouns, EventOf<Nouns>, AuditRecord>;
export type Reads = PartsOf<Nouns, "reads">;
export type Leases = PartsOf<Nouns, "leases">;

export const entities = entitiesOf(nouns);

const recorders = { event: createRecorder(nouns, recordEventChange), change: recordChange };

export const listing = (source: ListingSource) => createListing(nouns, source);

export const createReads = (database: Database): Reads => partsOf(nouns, "reads", database);

export const createLeases = (database: Database): Leases => partsOf(nouns, "leases", database);

export const transactions = (database: Database) =>
  createTransactions(database, nouns, recorders, tablesOfOrganization(nouns));
