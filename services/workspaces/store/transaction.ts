import type { Database, EntityManager, TransactionMode } from "@statehouse/postgres";
import type { WorkspacesEvent } from "../domain/events.ts";
import { agentPoolRows } from "./agent-pool.ts";
import { autoDestroyRows } from "./auto-destroy.ts";
import { configurationVersionRows } from "./configuration-version.ts";
import { dataRetentionPolicyRows, retentionVersionRows } from "./data-retention-policy.ts";
import { generalSettingsRows } from "./general-settings.ts";
import { organizationRows } from "./organization.ts";
import { organizationDeletionRows } from "./organization-deletion.ts";
import { record } from "./outbox.ts";
import { performanceRows } from "./performance.ts";
import { projectRows } from "./project.ts";
import { remoteStateConsumerRows } from "./remote-state-consumer.ts";
import { reservedTagKeyRows } from "./reserved-tag-key.ts";
import { runRows } from "./run.ts";
import { sshKeyRows } from "./ssh-key.ts";
import { tagRows } from "./tag.ts";
import { tagBindingRows } from "./tag-binding.ts";
import { workspaceRows } from "./workspace.ts";
import { workspaceDeletionRows } from "./workspace-deletion.ts";
import { workspaceReadmeRows } from "./workspace-readme.ts";

/** The rows of workspaces inside one transaction, and its outbox. */
const rowsIn = (em: EntityManager) => ({
  organizations: organizationRows(em),
  organizationDeletions: organizationDeletionRows(em),
  generalSettings: generalSettingsRows(em),
  agentPools: agentPoolRows(em),
  reservedTagKeys: reservedTagKeyRows(em),
  sshKeys: sshKeyRows(em),
  dataRetentionPolicies: dataRetentionPolicyRows(em),
  retentionVersion: retentionVersionRows(em),
  projects: projectRows(em),
  workspaces: workspaceRows(em),
  workspaceDeletions: workspaceDeletionRows(em),
  tags: tagRows(em),
  tagBindings: tagBindingRows(em),
  autoDestroys: autoDestroyRows(em),
  runs: runRows(em),
  remoteStateConsumers: remoteStateConsumerRows(em),
  performance: performanceRows(em),
  configurationVersions: configurationVersionRows(em),
  workspaceReadmes: workspaceReadmeRows(em),
  record: (event: WorkspacesEvent) => record(em, event),
});

export type Tx = ReturnType<typeof rowsIn>;

/** Runs use cases in transactions of the database; see `Database.transaction`. */
export const transactions =
  (database: Database) =>
  <T>(work: (tx: Tx) => Promise<T>, mode?: TransactionMode): Promise<T> =>
    database.transaction((em) => work(rowsIn(em)), mode);
