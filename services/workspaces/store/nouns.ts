import type { EntitySchema } from "@mikro-orm/core";
import { createRecorder, type PublishedEvents } from "@statehouse/events";
import {
  afterCommit,
  type Database,
  type PartsOf,
  partsOf,
  type TransactionMode,
} from "@statehouse/postgres";
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
 * Every noun of the store; no other file lists them. Each has some of: `entity`, its ORM schema; `rows`, its part of a
 * transaction (`tx.<noun>`); `reads`, statements outside any transaction that change nothing (`app.reads.<noun>`);
 * `leases`, single statements outside any transaction that take and finish work (`app.leases.<noun>`); `published`,
 * the messages of its events; `deletedWithOrganization`, the table whose rows are deleted with their organization, in
 * this order: a table stands before those that it refers to.
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
type Published = Extract<Nouns[keyof Nouns], { published: object }>["published"];
type EventOf<Table> = Table extends unknown
  ? {
      [Type in keyof Table]: Table[Type] extends (event: infer Event) => unknown ? Event : never;
    }[keyof Table]
  : never;

/** Every event that a use case can record. */
export type WorkspacesEvent = EventOf<Published>;

/** The rows of one transaction, and the events and hooks that take effect with its commit. */
export interface Tx extends PartsOf<Nouns, "rows"> {
  record(event: WorkspacesEvent): Promise<void>;
  /** Runs `hook` once the transaction is committed. */
  afterCommit(hook: () => void): void;
}

export type Reads = PartsOf<Nouns, "reads">;
export type Leases = PartsOf<Nouns, "leases">;

const all = Object.values(nouns);

export const entities: readonly EntitySchema[] = all.flatMap((noun): EntitySchema[] => {
  if ("entities" in noun) return [...noun.entities];
  return "entity" in noun ? [noun.entity] : [];
});

const tablesOfOrganization = all.flatMap((noun) =>
  "deletedWithOrganization" in noun ? [noun.deletedWithOrganization] : [],
);

const record = createRecorder<WorkspacesEvent>(
  Object.assign(
    {},
    ...all.map((noun) => ("published" in noun ? noun.published : {})),
  ) as PublishedEvents<WorkspacesEvent>,
);

export const createReads = (database: Database): Reads => partsOf(nouns, "reads", database);

export const createLeases = (database: Database): Leases => partsOf(nouns, "leases", database);

/** Runs use cases in transactions of the database; see `Database.transaction`. */
export const transactions =
  (database: Database) =>
  <T>(work: (tx: Tx) => Promise<T>, mode?: TransactionMode): Promise<T> =>
    database.transaction(
      (em) =>
        work({
          ...partsOf(nouns, "rows", em, tablesOfOrganization),
          record: (event) => record(em, event),
          afterCommit: (hook) => afterCommit(em, hook),
        }),
      mode,
    );
