import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { recordEvent } from "@statehouse/events";
import type { EntityManager } from "@statehouse/postgres";
import {
  AgentPoolCreatedSchema,
  AgentPoolDeletedSchema,
  AgentPoolUpdatedSchema,
  DataRetentionPolicyDeletedSchema,
  DataRetentionPolicySetSchema,
  OrganizationCreatedSchema,
  OrganizationDeletedSchema,
  OrganizationUpdatedSchema,
  ProjectCreatedSchema,
  ProjectDeletedSchema,
  ProjectUpdatedSchema,
  ReservedTagKeyCreatedSchema,
  ReservedTagKeyDeletedSchema,
  ReservedTagKeyUpdatedSchema,
  RunEndedSchema,
  SshKeyCreatedSchema,
  SshKeyDeletedSchema,
  SshKeyUpdatedSchema,
  TagDeletedSchema,
  WorkspaceAutoDestroyDueSchema,
  WorkspaceCreatedSchema,
  WorkspaceDeletedSchema,
  WorkspaceLockedSchema,
  WorkspaceUnlockedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { DataRetentionPolicy } from "../domain/data-retention-policy.ts";
import type { WorkspacesEvent } from "../domain/events.ts";
import { planTable } from "../domain/plan.ts";

const reservedTagKeyEvents = {
  reservedTagKeyCreated: ReservedTagKeyCreatedSchema,
  reservedTagKeyUpdated: ReservedTagKeyUpdatedSchema,
  reservedTagKeyDeleted: ReservedTagKeyDeletedSchema,
} as const;

const sshKeyEvents = {
  sshKeyCreated: SshKeyCreatedSchema,
  sshKeyUpdated: SshKeyUpdatedSchema,
  sshKeyDeleted: SshKeyDeletedSchema,
} as const;

const retentionTarget = ({ id, organizationId, workspaceId }: DataRetentionPolicy) => ({
  dataRetentionPolicyId: id,
  organizationId: organizationId ?? "",
  workspaceId: workspaceId ?? "",
});

/** Adds the event to the outbox, in the transaction of `em`. */
export async function record(em: EntityManager, event: WorkspacesEvent): Promise<void> {
  switch (event.type) {
    case "organizationCreated": {
      const { id, name, creatorUserId, revision } = event.organization;
      const schema = OrganizationCreatedSchema;
      const message = create(schema, { organizationId: id, name, creatorUserId, revision });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "organizationUpdated": {
      const { id, name, plan, revision } = event.organization;
      const schema = OrganizationUpdatedSchema;
      const usageBasedBilling = planTable[plan].usageBased;
      const message = create(schema, { organizationId: id, name, usageBasedBilling, revision });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "organizationDeleted": {
      const { id, revision } = event.organization;
      const schema = OrganizationDeletedSchema;
      const message = create(schema, { organizationId: id, revision });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "agentPoolCreated":
    case "agentPoolUpdated": {
      const { id, organizationId, name, revision } = event.agentPool;
      const schema =
        event.type === "agentPoolCreated" ? AgentPoolCreatedSchema : AgentPoolUpdatedSchema;
      const message = create(schema, { agentPoolId: id, organizationId, name, revision });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "agentPoolDeleted": {
      const { id, organizationId, revision } = event.agentPool;
      const schema = AgentPoolDeletedSchema;
      const message = create(schema, { agentPoolId: id, organizationId, revision });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "projectDeleted": {
      const { id, organizationId, revision } = event.project;
      const schema = ProjectDeletedSchema;
      const message = create(schema, { projectId: id, organizationId, revision });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "projectCreated":
    case "projectUpdated": {
      const { id, organizationId, name, revision } = event.project;
      const schema = event.type === "projectCreated" ? ProjectCreatedSchema : ProjectUpdatedSchema;
      const message = create(schema, { projectId: id, organizationId, name, revision });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "tagDeleted": {
      const { id, organizationId, name, revision } = event.tag;
      const schema = TagDeletedSchema;
      const message = create(schema, { tagId: id, organizationId, name, revision });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "reservedTagKeyCreated":
    case "reservedTagKeyUpdated":
    case "reservedTagKeyDeleted": {
      const { id, organizationId, key, revision } = event.reservedTagKey;
      const schema = reservedTagKeyEvents[event.type];
      const message = create(schema, { reservedTagKeyId: id, organizationId, key, revision });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "sshKeyCreated":
    case "sshKeyUpdated":
    case "sshKeyDeleted": {
      const { id, organizationId, revision } = event.sshKey;
      const schema = sshKeyEvents[event.type];
      const message = create(schema, { sshKeyId: id, organizationId, revision });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "dataRetentionPolicySet": {
      const { id, kind, deleteOlderThanNDays: days, revision } = event.policy;
      const schema = DataRetentionPolicySetSchema;
      const message = create(schema, {
        ...retentionTarget(event.policy),
        kind,
        ...(days === null ? {} : { deleteOlderThanNDays: days }),
        revision,
      });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "dataRetentionPolicyDeleted": {
      const { id, revision } = event.policy;
      const schema = DataRetentionPolicyDeletedSchema;
      const message = create(schema, { ...retentionTarget(event.policy), revision });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "workspaceCreated": {
      const { id, organizationId, projectId, name, revision } = event.workspace;
      const schema = WorkspaceCreatedSchema;
      const fields = { workspaceId: id, organizationId, projectId, name, revision };
      return recordEvent(em, { schema, message: create(schema, fields), subject: id, revision });
    }
    case "workspaceUpdated": {
      const { id, organizationId, projectId, name, placementVersion, revision } = event.workspace;
      const schema = WorkspaceUpdatedSchema;
      const fields = {
        workspaceId: id,
        organizationId,
        projectId,
        name,
        placementVersion,
        revision,
      };
      return recordEvent(em, { schema, message: create(schema, fields), subject: id, revision });
    }
    case "workspaceLocked": {
      const { id, organizationId, revision } = event.workspace;
      const { holder, reason, epoch } = event.lock;
      const schema = WorkspaceLockedSchema;
      const message = create(schema, {
        workspaceId: id,
        organizationId,
        holderType: holder.type,
        holderId: holder.id,
        reason,
        epoch,
        revision,
      });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "workspaceUnlocked": {
      const { id, organizationId, revision } = event.workspace;
      const { epoch, forced } = event;
      const schema = WorkspaceUnlockedSchema;
      const fields = { workspaceId: id, organizationId, epoch, forced, revision };
      return recordEvent(em, { schema, message: create(schema, fields), subject: id, revision });
    }
    case "workspaceDeleted": {
      const { id, organizationId, revision } = event.workspace;
      const schema = WorkspaceDeletedSchema;
      const message = create(schema, { workspaceId: id, organizationId, revision });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
    case "workspaceAutoDestroyDue": {
      const { id: workspaceId, organizationId, projectId, revision } = event.workspace;
      const schema = WorkspaceAutoDestroyDueSchema;
      const dueAt = timestampFromDate(event.dueAt);
      const message = create(schema, { workspaceId, organizationId, projectId, dueAt, revision });
      return recordEvent(em, { schema, message, subject: workspaceId, revision });
    }
    case "runEnded": {
      const { id: runId, workspaceId, status, revision } = event.run;
      const { organizationId } = event.workspace;
      const schema = RunEndedSchema;
      const fields = { runId, workspaceId, organizationId, status, revision };
      return recordEvent(em, { schema, message: create(schema, fields), subject: runId, revision });
    }
  }
}
