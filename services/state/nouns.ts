import { type AuditRecord, recorders } from "@statehouse/audit";
import { createListing, type ListingSource, type Published } from "@statehouse/events";
import {
  type ColumnCipher,
  createTransactions,
  type Database,
  entitiesOf,
  type PartsOf,
  partsOf,
  type TxOf,
} from "@statehouse/postgres";
import { blobs } from "./blob/store.ts";
import { blobDeletions } from "./blob-deletion/store.ts";
import { contents } from "./content/store.ts";
import { currentStates } from "./current-state/store.ts";
import { databaseHeartbeats } from "./database-heartbeat/store.ts";
import { extractions } from "./extraction/store.ts";
import { organizationBilling } from "./organization-billing/store.ts";
import { retention } from "./retention/store.ts";
import { scans } from "./scan-store.ts";
import { stateVersionDigests } from "./state-digest/store.ts";
import { stateVersions } from "./state-version/store.ts";
import { stateVersionOutputs } from "./state-version-output/store.ts";
import { workspaceResources } from "./workspace-resource/store.ts";
import { workspaceStates } from "./workspace-state/store.ts";

/**
 * Every noun of the store; no other file lists them. A noun has some of these members:
 *
 * - `entity`: its ORM schema.
 * - `rows`: its part of a transaction (`tx.<noun>`).
 * - `reads`: single statements that run outside a transaction and change nothing (`app.reads.<noun>`).
 * - `leases`: single statements that run outside a transaction and claim work for one replica (`app.leases.<noun>`).
 * - `listed`: its objects as events, for subscribers. Every noun with events has it.
 */
const nouns = {
  workspaceStates,
  stateVersions,
  stateVersionOutputs,
  stateVersionDigests,
  workspaceResources,
  blobs,
  blobDeletions,
  contents,
  currentStates,
  databaseHeartbeats,
  extractions,
  retention,
  scans,
  organizationBilling,
};

type Nouns = typeof nouns;

/**
 * A transaction. Rows loaded for update are locked until it ends; their changes are written before the commit.
 *
 * To avoid deadlocks, every use case locks in this order: workspace state, state version, blob. Several rows of one
 * kind are locked in the order of their ids.
 */
export type Tx = TxOf<Nouns, Published, AuditRecord>;
export type Reads = PartsOf<Nouns, "reads">;
export type Leases = PartsOf<Nouns, "leases">;

export const entities = entitiesOf(nouns);

export const listing = (source: ListingSource) => createListing(nouns, source);

export const createReads = (database: Database, cipher: ColumnCipher): Reads =>
  partsOf(nouns, "reads")(database, cipher);

export const createLeases = (database: Database): Leases => partsOf(nouns, "leases")(database);

export const transactions = (database: Database, cipher: ColumnCipher) =>
  createTransactions(database, nouns, recorders, cipher);
