import type { Database } from "@statehouse/postgres";
import { agentPoolReads } from "./agent-pool.ts";
import { configurationVersionReads } from "./configuration-version.ts";
import { dataRetentionPolicyReads } from "./data-retention-policy.ts";
import { generalSettingsReads } from "./general-settings.ts";
import { organizationReads } from "./organization.ts";
import { projectReads } from "./project.ts";
import { remoteStateConsumerReads } from "./remote-state-consumer.ts";
import { reservedTagKeyReads } from "./reserved-tag-key.ts";
import { runReads } from "./run.ts";
import { sshKeyReads } from "./ssh-key.ts";
import { tagReads } from "./tag.ts";
import { tagBindingReads } from "./tag-binding.ts";
import { workspaceReads } from "./workspace.ts";
import { workspaceLists } from "./workspace-list.ts";
import { workspaceReadmeReads } from "./workspace-readme.ts";

/** Everything that is read outside a transaction. */
export const readsOf = (database: Database) => ({
  organizations: organizationReads(database),
  generalSettings: generalSettingsReads(database),
  agentPools: agentPoolReads(database),
  reservedTagKeys: reservedTagKeyReads(database),
  sshKeys: sshKeyReads(database),
  dataRetentionPolicies: dataRetentionPolicyReads(database),
  projects: projectReads(database),
  workspaces: workspaceReads(database),
  workspaceLists: workspaceLists(database),
  tags: tagReads(database),
  tagBindings: tagBindingReads(database),
  runs: runReads(database),
  remoteStateConsumers: remoteStateConsumerReads(database),
  configurationVersions: configurationVersionReads(database),
  workspaceReadmes: workspaceReadmeReads(database),
});

export type Reads = ReturnType<typeof readsOf>;
