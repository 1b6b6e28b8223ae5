import { EntitySchema } from "@mikro-orm/core";
import {
  bigint,
  boolean,
  integer,
  jsonb,
  optional,
  primaryKey,
  selectList,
  text,
  textArray,
  timestamptz,
} from "@statehouse/postgres/columns";
import { effectiveRetentionDays, ownDataRetentionPolicy } from "../data-retention-policy/store.ts";
import type { Holder } from "../ids-domain.ts";
import type { DeletionLock, WorkspaceLock } from "../workspace-lock/domain.ts";
import { Workspace, type WorkspaceView } from "./domain.ts";

/** Columns whose values are part of a workspace's document unchanged. */
const columns = {
  id: primaryKey,
  organizationId: text,
  projectId: text,
  name: text,
  description: optional(text),
  allowDestroyPlan: boolean,
  autoApply: boolean,
  autoApplyRunTrigger: boolean,
  autoDestroyAt: optional(timestamptz),
  inheritsProjectAutoDestroy: boolean,
  sshKeyId: optional(text),
  overwritesAgentPool: boolean,
  fileTriggersEnabled: boolean,
  globalRemoteState: boolean,
  projectRemoteState: boolean,
  queueAllRuns: boolean,
  sourceName: optional(text),
  sourceUrl: optional(text),
  speculativeEnabled: boolean,
  structuredRunOutputEnabled: boolean,
  engineVersion: text,
  triggerPatterns: textArray,
  triggerPrefixes: textArray,
  vcsRepo: optional(jsonb),
  workingDirectory: optional(text),
  currentStateVersionId: optional(text),
  resourceCount: integer,
  latestChangeAt: optional(timestamptz),
  createdAt: timestamptz,
  updatedAt: timestamptz,
};

/** Columns of a workspace's document that only the statements for runners' reports write. */
const reportedColumns = {
  currentRunId: optional(text),
  latestRunId: optional(text),
  currentConfigurationVersionId: optional(text),
  hasReadme: boolean,
};

// MikroORM needs classes for embedded values; the domain uses plain objects.

class HolderValue implements Holder {
  declare type: Holder["type"];
  declare id: string;
}

class LockValue implements WorkspaceLock {
  declare holder: HolderValue;
  declare reason: string;
  declare since: Date;
  declare epoch: bigint;
}

class DeletionLockValue implements DeletionLock {
  declare epoch: bigint;
  declare until: Date;
}

const holderSchema = new EntitySchema({
  class: HolderValue,
  embeddable: true,
  properties: { type: text, id: text },
});

const lockSchema = new EntitySchema({
  class: LockValue,
  embeddable: true,
  properties: {
    holder: { kind: "embedded", entity: () => HolderValue, prefix: "holder_" },
    reason: text,
    since: timestamptz,
    epoch: bigint,
  },
});

const deletionLockSchema = new EntitySchema({
  class: DeletionLockValue,
  embeddable: true,
  properties: { epoch: bigint, until: timestamptz },
});

export const workspaceSchema = new EntitySchema({
  class: Workspace,
  tableName: "workspaces",
  properties: {
    ...columns,
    autoDestroyActivityDuration: optional(text),
    inheritedActivityDuration: optional(text),
    assessmentsEnabled: boolean,
    executionMode: optional(text),
    agentPoolId: optional(text),
    lastLockEpoch: bigint,
    placementVersion: bigint,
    placementAcknowledged: bigint,
    retryAt: timestamptz,
    stateRevision: bigint,
    revision: bigint,
    lock: { kind: "embedded", entity: () => LockValue, prefix: "lock_", nullable: true },
    deletionLock: {
      kind: "embedded",
      entity: () => DeletionLockValue,
      prefix: "deletion_lock_",
      nullable: true,
    },
  },
});

export const workspaceEntities = [workspaceSchema, holderSchema, lockSchema, deletionLockSchema];

/**
 * Returns a SELECT statement for the values that workspace documents show; `workspaces` names the table or CTE to read
 * from. Called only when the module is loaded, because composing the SQL takes longer than sending it.
 */
const composeView = (workspaces: string) => `
  select ${selectList("w", { ...columns, ...reportedColumns })},
    o.name as "organizationName",
    coalesce(w.auto_destroy_activity_duration, case when w.inherits_project_auto_destroy
      then w.inherited_activity_duration end) as "autoDestroyActivityDuration",
    o.allow_force_delete_workspaces as "allowForceDelete",
    -- A workspace cannot disable assessments that the organization enforces. A workspace whose effective mode is not
    -- remote has no assessments, even if they were enabled earlier.
    o.assessments_enforced or (w.assessments_enabled and
      coalesce(w.execution_mode, p.default_execution_mode, o.default_execution_mode) = 'remote')
      as "assessmentsEnabled",
    coalesce(w.execution_mode, p.default_execution_mode, o.default_execution_mode)
      as "executionMode",
    w.execution_mode is not null as "overwritesExecutionMode",
    case
      when coalesce(w.execution_mode, p.default_execution_mode, o.default_execution_mode) <> 'agent'
        then null
      when w.agent_pool_id is not null then w.agent_pool_id
      when p.default_execution_mode is not null then p.default_agent_pool_id
      else o.default_agent_pool_id
    end as "agentPoolId",
    ${workspaceLock("w")} as lock,
    -- index: tag_bindings_workspace_key
    array(
      select b.key from tag_bindings b where b.workspace_id = w.id and b.value = '' order by b.key
    ) as "tagNames",
    -- index: workspace_performance_pkey
    (select row_to_json(sums) from (
       select f.runs, f.run_failures as "runFailures",
         f.policy_check_failures as "policyCheckFailures", f.plan_runs as "planRuns",
         f.plan_ms as "planMs", f.apply_runs as "applyRuns", f.apply_ms as "applyMs"
       from workspace_performance f where f.workspace_id = w.id and f.runs > 0
     ) sums) as performance,
    -- index: data_retention_policies_workspace, _organization, _site
    ${effectiveRetentionDays("w")},
    -- index: data_retention_policies_workspace
    ${ownDataRetentionPolicy("r.workspace_id = w.id")}
  from ${workspaces} w
  join organizations o on o.id = w.organization_id
  join projects p on p.id = w.project_id`;

const workspaceView = composeView("workspaces");

/**
 * Selects the values of workspaces' documents, in one statement. `rest` is the SQL for the condition and order;
 * `listed` selects further columns. All values of a document are one JSON column, because describing and parsing forty
 * columns takes this process twice as long (ADR 19).
 */
export const selectWorkspaces = (rest: string, listed = ""): string =>
  selectDocuments(workspaceView, rest, listed);

/**
 * Selects the values of workspaces' documents from `changed`, the part of the same statement that returns the inserted
 * or updated workspaces.
 */
export const selectChangedWorkspaces = selectDocuments(composeView("changed"));

function selectDocuments(view: string, rest = "", listed = ""): string {
  return `select ${listed} row_to_json(shown) as workspace from (${view} ${rest}) shown`;
}

/** Returns the SQL for the lock of the row `workspace`, as one JSON column; null if the workspace is not locked. */
export function workspaceLock(workspace: string): string {
  const column = (name: string) => `${workspace}.lock_${name}`;
  return `case when ${column("epoch")} is not null then json_build_object(
      'holder', json_build_object('type', ${column("holder_type")}, 'id', ${column("holder_id")}),
      'reason', ${column("reason")}, 'since', ${column("since")}, 'epoch', ${column("epoch")}) end`;
}

/** The JSON that `workspaceLock` selects: timestamps are strings. */
export type LockJson = Omit<WorkspaceLock, "since" | "epoch"> & { since: string; epoch: number };

export const toLock = ({ holder, reason, since, epoch }: LockJson): WorkspaceLock => ({
  holder,
  reason,
  since: new Date(since),
  epoch: BigInt(epoch),
});

interface TimestampTexts {
  createdAt: string;
  updatedAt: string;
  autoDestroyAt: string | null;
  latestChangeAt: string | null;
}

/** A row of `selectWorkspaces`. */
export interface WorkspaceRow {
  workspace: Omit<WorkspaceView, "lock" | keyof TimestampTexts> &
    TimestampTexts & { lock: LockJson | null };
}

// All properties are copied, because every document needs all of them.
export const toWorkspaceView = ({ workspace }: WorkspaceRow): WorkspaceView => ({
  ...workspace,
  createdAt: new Date(workspace.createdAt),
  updatedAt: new Date(workspace.updatedAt),
  latestChangeAt: dateOrNull(workspace.latestChangeAt),
  autoDestroyAt: dateOrNull(workspace.autoDestroyAt),
  lock: workspace.lock && toLock(workspace.lock),
});

const dateOrNull = (text: string | null): Date | null => (text === null ? null : new Date(text));
