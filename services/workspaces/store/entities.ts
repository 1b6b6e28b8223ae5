import { ArrayType, BigIntType, EntitySchema } from "@mikro-orm/core";
import { AgentPool } from "../domain/agent-pool.ts";
import { DataRetentionPolicy } from "../domain/data-retention-policy.ts";
import type { Holder } from "../domain/ids.ts";
import { Organization } from "../domain/organization.ts";
import { Project } from "../domain/project.ts";
import { ReservedTagKey } from "../domain/reserved-tag-key.ts";
import { SshKey } from "../domain/ssh-key.ts";
import { Workspace } from "../domain/workspace.ts";
import type { DeletionLock, WorkspaceLock } from "../domain/workspace-lock.ts";

const text = { type: "text" } as const;
const flag = { type: "boolean" } as const;
const moment = { type: "datetime", length: 3 } as const;
const id = { type: "text", primary: true } as const;
const counter = { type: new BigIntType("bigint") } as const;
const optional = { nullable: true } as const;

// References are plain ids: rows are loaded and written one by one, never as graphs.

export const organizationSchema = new EntitySchema({
  class: Organization,
  tableName: "organizations",
  properties: {
    id,
    name: text,
    email: text,
    status: text,
    creatorUserId: text,
    defaultProjectId: text,
    defaultExecutionMode: text,
    defaultAgentPoolId: { ...text, ...optional },
    allowForceDeleteWorkspaces: flag,
    assessmentsEnforced: flag,
    userTokensEnabled: flag,
    collaboratorAuthPolicy: text,
    costEstimationEnabled: flag,
    sendPassingStatusesForUntriggeredSpeculativePlans: flag,
    aggregatedCommitStatusEnabled: flag,
    speculativePlanManagementEnabled: flag,
    sessionTimeout: { type: "integer", ...optional },
    sessionRemember: { type: "integer", ...optional },
    ownersTeamSamlRoleId: { ...text, ...optional },
    plan: text,
    retryAt: moment,
    revision: counter,
    createdAt: moment,
    updatedAt: moment,
  },
});

export const projectSchema = new EntitySchema({
  class: Project,
  tableName: "projects",
  properties: {
    id,
    organizationId: text,
    name: text,
    description: { ...text, ...optional },
    defaultExecutionMode: { ...text, ...optional },
    defaultAgentPoolId: { ...text, ...optional },
    revision: counter,
    createdAt: moment,
    updatedAt: moment,
  },
});

export const agentPoolSchema = new EntitySchema({
  class: AgentPool,
  tableName: "agent_pools",
  properties: {
    id,
    organizationId: text,
    name: text,
    organizationScoped: flag,
    revision: counter,
    createdAt: moment,
  },
});

export const reservedTagKeySchema = new EntitySchema({
  class: ReservedTagKey,
  tableName: "reserved_tag_keys",
  properties: {
    id,
    organizationId: text,
    key: text,
    disableOverrides: flag,
    revision: counter,
    createdAt: moment,
    updatedAt: moment,
  },
});

export const sshKeySchema = new EntitySchema({
  class: SshKey,
  tableName: "ssh_keys",
  properties: {
    id,
    organizationId: text,
    name: text,
    sealedValue: text,
    revision: counter,
    createdAt: moment,
  },
});

export const dataRetentionPolicySchema = new EntitySchema({
  class: DataRetentionPolicy,
  tableName: "data_retention_policies",
  properties: {
    id,
    organizationId: { ...text, ...optional },
    workspaceId: { ...text, ...optional },
    kind: text,
    // The naming strategy would not find the underscore before a single letter.
    deleteOlderThanNDays: {
      type: "integer",
      fieldName: "delete_older_than_n_days",
      ...optional,
    },
    revision: counter,
  },
});

// Embedded values need classes; the domain has them as plain ones.

class HolderValue implements Holder {
  declare type: Holder["type"];
  declare id: string;
}

const holderSchema = new EntitySchema({
  class: HolderValue,
  embeddable: true,
  properties: { type: text, id: text },
});

class LockValue implements WorkspaceLock {
  declare holder: HolderValue;
  declare reason: string;
  declare since: Date;
  declare epoch: bigint;
}

const lockSchema = new EntitySchema({
  class: LockValue,
  embeddable: true,
  properties: {
    holder: { kind: "embedded", entity: () => HolderValue, prefix: "holder_" },
    reason: text,
    since: moment,
    epoch: counter,
  },
});

class DeletionLockValue implements DeletionLock {
  declare epoch: bigint;
  declare until: Date;
}

const deletionLockSchema = new EntitySchema({
  class: DeletionLockValue,
  embeddable: true,
  properties: { epoch: counter, until: moment },
});

export const workspaceSchema = new EntitySchema({
  class: Workspace,
  tableName: "workspaces",
  properties: {
    id,
    organizationId: text,
    projectId: text,
    name: text,
    description: { ...text, ...optional },
    allowDestroyPlan: flag,
    assessmentsEnabled: flag,
    autoApply: flag,
    autoApplyRunTrigger: flag,
    autoDestroyAt: { ...moment, ...optional },
    autoDestroyActivityDuration: { ...text, ...optional },
    executionMode: { ...text, ...optional },
    agentPoolId: { ...text, ...optional },
    sshKeyId: { ...text, ...optional },
    overwritesAgentPool: flag,
    fileTriggersEnabled: flag,
    globalRemoteState: flag,
    projectRemoteState: flag,
    queueAllRuns: flag,
    sourceName: { ...text, ...optional },
    sourceUrl: { ...text, ...optional },
    speculativeEnabled: flag,
    structuredRunOutputEnabled: flag,
    engineVersion: text,
    triggerPatterns: { type: new ArrayType() },
    triggerPrefixes: { type: new ArrayType() },
    vcsRepo: { type: "json", ...optional },
    workingDirectory: { ...text, ...optional },
    lock: { kind: "embedded", entity: () => LockValue, prefix: "lock_", ...optional },
    deletionLock: {
      kind: "embedded",
      entity: () => DeletionLockValue,
      prefix: "deletion_lock_",
      ...optional,
    },
    lastLockEpoch: counter,
    placementVersion: counter,
    placementAcknowledged: counter,
    retryAt: moment,
    currentStateVersionId: { ...text, ...optional },
    resourceCount: { type: "integer" },
    latestChangeAt: { ...moment, ...optional },
    stateRevision: counter,
    revision: counter,
    createdAt: moment,
    updatedAt: moment,
  },
});

export const entities = [
  organizationSchema,
  projectSchema,
  agentPoolSchema,
  reservedTagKeySchema,
  sshKeySchema,
  dataRetentionPolicySchema,
  workspaceSchema,
  holderSchema,
  lockSchema,
  deletionLockSchema,
];
