import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { listed, published } from "@statehouse/events";
import {
  WorkspaceAutoDestroyDueSchema,
  WorkspaceCreatedSchema,
  WorkspaceDeletedSchema,
  WorkspaceLockedSchema,
  WorkspaceUnlockedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { organizationIsActive } from "../active-organization-store.ts";
import type { WorkspaceLock } from "../workspace-lock/domain.ts";
import type { PublishedWorkspace, Workspace } from "./domain.ts";

type Owned = Pick<Workspace, "id" | "organizationId" | "revision">;
type Named = Owned & Pick<Workspace, "projectId" | "name">;

const targetOf = ({ id, organizationId, revision }: Owned) => ({
  workspaceId: id,
  organizationId,
  revision,
});

const attributeNames = {
  projectId: "project",
  sshKeyId: "ssh-key",
  inheritedActivityDuration: "auto-destroy-activity-duration",
  overwritesAgentPool: "setting-overwrites",
  ...{ placementVersion: null, placementAcknowledged: null, lastLockEpoch: null },
  ...{ stateRevision: null },
};

export const workspaceCreated = (workspace: Named) =>
  published(WorkspaceCreatedSchema, workspace.id, {
    ...targetOf(workspace),
    projectId: workspace.projectId,
    name: workspace.name,
  });

export const workspaceUpdated = (workspace: PublishedWorkspace) =>
  published(
    WorkspaceUpdatedSchema,
    workspace.id,
    {
      ...targetOf(workspace),
      projectId: workspace.projectId,
      name: workspace.name,
      placementVersion: workspace.placementVersion,
    },
    workspace,
    attributeNames,
  );

export const workspaceLocked = (
  workspace: Owned,
  { holder, reason, epoch }: Pick<WorkspaceLock, "holder" | "reason" | "epoch">,
) =>
  published(WorkspaceLockedSchema, workspace.id, {
    ...targetOf(workspace),
    holderType: holder.type,
    holderId: holder.id,
    reason,
    epoch,
  });

export const workspaceUnlocked = (
  workspace: Owned,
  { epoch, forced }: { epoch: bigint; forced: boolean },
) => published(WorkspaceUnlockedSchema, workspace.id, { ...targetOf(workspace), epoch, forced });

export const workspaceDeleted = (workspace: Owned) =>
  published(WorkspaceDeletedSchema, workspace.id, targetOf(workspace));

export const workspaceAutoDestroyDue = (workspace: Named, dueAt: Date) =>
  published(WorkspaceAutoDestroyDueSchema, workspace.id, {
    ...targetOf(workspace),
    projectId: workspace.projectId,
    dueAt: timestampFromDate(dueAt),
  });

type ListedWorkspace = Named & {
  holderType: WorkspaceLock["holder"]["type"] | null;
  holderId: string | null;
  reason: string | null;
  epoch: number | null;
};

const listedEvents = (row: ListedWorkspace) => {
  const { holderType, holderId, reason, epoch } = row;
  if (holderType === null) return [workspaceCreated(row)];
  const lock = {
    holder: { type: holderType, id: holderId ?? "" },
    reason: reason ?? "",
    epoch: BigInt(epoch ?? 0),
  };
  return [workspaceCreated(row), workspaceLocked(row, lock)];
};

/** Workspaces and their locks as events, for subscribers. */
export const listedWorkspaceEvents = listed({
  schemas: [WorkspaceCreatedSchema, WorkspaceLockedSchema],
  // index: workspaces_pkey, organizations_pkey
  from: "workspaces t",
  columns: `t.id, t.organization_id as "organizationId", t.project_id as "projectId", t.name,
    t.lock_holder_type as "holderType", t.lock_holder_id as "holderId",
    t.lock_reason as reason, t.lock_epoch as epoch`,
  isListed: organizationIsActive("t.organization_id"),
  events: listedEvents,
});
