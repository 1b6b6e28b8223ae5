import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type AttributeNames,
  listed,
  type PublishedEvents,
  published,
  selectListed,
} from "@statehouse/events";
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
import type { Workspace, WorkspaceEvent } from "./domain.ts";

type Named = Pick<Workspace, "id" | "organizationId" | "projectId" | "name">;
type ListedWorkspace = Named & {
  holderType: WorkspaceLock["holder"]["type"] | null;
  holderId: string | null;
  reason: string | null;
  epoch: number | null;
};

const createdEvent = ({ id, organizationId, projectId, name }: Named) =>
  published(WorkspaceCreatedSchema, id, { workspaceId: id, organizationId, projectId, name });

const lockedEvent = (
  { id, organizationId }: Pick<Workspace, "id" | "organizationId">,
  { holder, reason, epoch }: Pick<WorkspaceLock, "holder" | "reason" | "epoch">,
) =>
  published(WorkspaceLockedSchema, id, {
    workspaceId: id,
    organizationId,
    holderType: holder.type,
    holderId: holder.id,
    reason,
    epoch,
  });

const listedEvents = (row: ListedWorkspace) => {
  const { holderType, holderId, reason, epoch } = row;
  if (holderType === null) return [createdEvent(row)];
  const lock = {
    holder: { type: holderType, id: holderId ?? "" },
    reason: reason ?? "",
    epoch: BigInt(epoch ?? 0),
  };
  return [createdEvent(row), lockedEvent(row, lock)];
};

/** Workspaces and their locks as events, for subscribers. */
export const listedWorkspaceEvents = listed({
  schemas: [WorkspaceCreatedSchema, WorkspaceLockedSchema],
  // index: workspaces_pkey, organizations_pkey
  select: selectListed({
    from: "workspaces t",
    columns: `t.id, t.organization_id as "organizationId", t.project_id as "projectId", t.name,
      t.lock_holder_type as "holderType", t.lock_holder_id as "holderId",
      t.lock_reason as reason, t.lock_epoch as epoch`,
    isListed: organizationIsActive("t.organization_id"),
  }),
  events: listedEvents,
});

export const publishedOfWorkspaces = {
  workspaceCreated: ({ workspace }) => createdEvent(workspace),
  workspaceUpdated: ({ workspace }) => {
    const { id, organizationId, projectId, name, placementVersion } = workspace;
    const fields = { workspaceId: id, organizationId, projectId, name, placementVersion };
    return published(WorkspaceUpdatedSchema, id, fields);
  },
  workspaceLocked: ({ workspace, lock }) => lockedEvent(workspace, lock),
  workspaceUnlocked: ({ workspace: { id, organizationId }, epoch, forced }) =>
    published(WorkspaceUnlockedSchema, id, { workspaceId: id, organizationId, epoch, forced }),
  workspaceDeleted: ({ workspace: { id, organizationId } }) =>
    published(WorkspaceDeletedSchema, id, { workspaceId: id, organizationId }),
  workspaceAutoDestroyDue: ({ workspace: { id, organizationId, projectId }, dueAt }) =>
    published(WorkspaceAutoDestroyDueSchema, id, {
      workspaceId: id,
      organizationId,
      projectId,
      dueAt: timestampFromDate(dueAt),
    }),
} satisfies PublishedEvents<WorkspaceEvent>;

export const workspaceAttributeNames = {
  projectId: "project",
  sshKeyId: "ssh-key",
  inheritedActivityDuration: "auto-destroy-activity-duration",
  overwritesAgentPool: "setting-overwrites",
  ...{ placementVersion: null, placementAcknowledged: null, lastLockEpoch: null },
  ...{ stateRevision: null },
} satisfies AttributeNames;
