import type { AgentPool } from "./agent-pool.ts";
import type { DataRetentionPolicy } from "./data-retention-policy.ts";
import type { Organization } from "./organization.ts";
import type { Project } from "./project.ts";
import type { ReservedTagKey } from "./reserved-tag-key.ts";
import type { Run } from "./run.ts";
import type { SshKey } from "./ssh-key.ts";
import type { DeletedTag } from "./tag.ts";
import type { Workspace } from "./workspace.ts";
import type { WorkspaceLock } from "./workspace-lock.ts";

/** What happened, as it stood when it did; the rows may have changed since they were given here. */
export type WorkspacesEvent =
  | { type: "organizationCreated"; organization: Organization }
  | { type: "organizationUpdated"; organization: Organization }
  | { type: "organizationDeleted"; organization: Organization }
  | { type: "agentPoolCreated" | "agentPoolUpdated" | "agentPoolDeleted"; agentPool: AgentPool }
  | { type: "projectCreated" | "projectUpdated" | "projectDeleted"; project: Project }
  | { type: "tagDeleted"; tag: DeletedTag }
  | {
      type: "reservedTagKeyCreated" | "reservedTagKeyUpdated" | "reservedTagKeyDeleted";
      reservedTagKey: ReservedTagKey;
    }
  | { type: "sshKeyCreated" | "sshKeyUpdated" | "sshKeyDeleted"; sshKey: SshKey }
  | { type: "dataRetentionPolicySet" | "dataRetentionPolicyDeleted"; policy: DataRetentionPolicy }
  | { type: "workspaceCreated"; workspace: Workspace }
  | { type: "workspaceUpdated"; workspace: Workspace }
  | { type: "workspaceLocked"; workspace: Workspace; lock: WorkspaceLock }
  | { type: "workspaceUnlocked"; workspace: Workspace; epoch: bigint; forced: boolean }
  | { type: "workspaceDeleted"; workspace: Workspace }
  | { type: "workspaceAutoDestroyDue"; workspace: Workspace; dueAt: Date }
  | { type: "runEnded"; workspace: Workspace; run: Run };
