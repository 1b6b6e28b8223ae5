import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AttributeNames, listed, type PublishedEvents, published } from "@statehouse/events";
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
  key: string;
  revision: number;
  holderType: WorkspaceLock["holder"]["type"] | null;
  holderId: string | null;
  reason: string | null;
  epoch: number | null;
};

/**
 * Selects at most $3 workspaces after the id $1 for the listing: those of organization $2, or of all organizations if
 * $2 is null.
 */
const listedWorkspaces = `-- index: workspaces_pkey, organizations_pkey
  select w.id as key, w.id, w.organization_id as "organizationId", w.project_id as "projectId",
    w.name, w.lock_holder_type as "holderType", w.lock_holder_id as "holderId",
    w.lock_reason as reason, w.lock_epoch as epoch, w.revision,
    ${organizationIsActive("w.organization_id")} as "isListed"
  from workspaces w
  where w.id > $1 and ($2::text is null or w.organization_id = $2)
  order by w.id limit $3`;

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
  select: listedWorkspaces,
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
