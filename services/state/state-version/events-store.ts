import { listed, type Published, published } from "@statehouse/events";
import * as events from "@statehouse/proto/statehouse/state/v1/events";
import type { Comparison } from "../state-digest/domain.ts";
import { differenceFields } from "../state-digest/store.ts";
import type { WorkspaceState } from "../workspace-state/domain.ts";
import { isVisible } from "../workspace-state/store.ts";
import type { StateVersion } from "./domain.ts";

/** The values of a workspace that the events of its state versions contain. */
type OfWorkspace = Pick<WorkspaceState, "workspaceId" | "organizationId" | "revision">;
type OfVersion = Pick<StateVersion, "id">;

// The subject of each event is the id of the workspace. Messages never contain output values.

const ofWorkspace = ({ workspaceId, organizationId, revision }: OfWorkspace) => ({
  workspaceId,
  organizationId: organizationId ?? "",
  revision,
});

const ofVersion = (workspaceState: OfWorkspace, { id }: OfVersion) => ({
  stateVersionId: id,
  ...ofWorkspace(workspaceState),
});

export const stateVersionCreated = (
  w: OfWorkspace,
  version: Pick<StateVersion, "id" | "serial" | "rollbackVersionId">,
) =>
  published(events.StateVersionCreatedSchema, w.workspaceId, {
    ...ofVersion(w, version),
    serial: version.serial,
    rollbackStateVersionId: version.rollbackVersionId ?? "",
  });

export const stateVersionFinalized = (
  w: OfWorkspace,
  version: Pick<StateVersion, "id" | "serial" | "size" | "intermediate">,
) =>
  published(events.StateVersionFinalizedSchema, w.workspaceId, {
    ...ofVersion(w, version),
    serial: version.serial,
    size: version.size ?? 0n,
    intermediate: version.intermediate,
  });

export const stateVersionDiscarded = (w: OfWorkspace, version: OfVersion) =>
  published(events.StateVersionDiscardedSchema, w.workspaceId, ofVersion(w, version));

export const stateVersionProcessed = (
  w: OfWorkspace,
  version: StateVersion,
  comparison: Comparison,
) =>
  published(events.StateVersionProcessedSchema, w.workspaceId, {
    ...ofVersion(w, version),
    resourceCount: version.resourceCount,
    serial: version.serial,
    lineage: version.lineage,
    ...differenceFields(comparison),
  });

export const stateVersionSoftDeleted = (w: OfWorkspace, version: OfVersion) =>
  published(events.StateVersionSoftDeletedSchema, w.workspaceId, ofVersion(w, version));

export const stateVersionRestored = (w: OfWorkspace, version: OfVersion) =>
  published(events.StateVersionRestoredSchema, w.workspaceId, ofVersion(w, version));

export const stateVersionPermanentlyDeleted = (w: OfWorkspace, version: OfVersion) =>
  published(events.StateVersionPermanentlyDeletedSchema, w.workspaceId, ofVersion(w, version));

export const stateVersionsCollected = (w: OfWorkspace, versions: readonly OfVersion[]) =>
  published(events.StateVersionsCollectedSchema, w.workspaceId, {
    ...ofWorkspace(w),
    stateVersionIds: versions.map(({ id }) => id),
  });

type ListedVersion = OfWorkspace &
  Pick<StateVersion, "id" | "status" | "intermediate" | "rollbackVersionId"> & {
    serial: number;
    size: number | null;
  };

const endOf: Partial<Record<StateVersion["status"], typeof stateVersionDiscarded>> = {
  discarded: stateVersionDiscarded,
  backing_data_soft_deleted: stateVersionSoftDeleted,
  backing_data_permanently_deleted: stateVersionPermanentlyDeleted,
};

const listedEvents = (row: ListedVersion): Published[] => {
  const { status, size } = row;
  const version = { ...row, serial: BigInt(row.serial), size: size === null ? null : BigInt(size) };
  const isFinalized = status !== "pending" && status !== "discarded";
  const end = endOf[status];
  return [
    stateVersionCreated(row, version),
    ...(isFinalized ? [stateVersionFinalized(row, version)] : []),
    ...(end ? [end(row, version)] : []),
  ];
};

/** The versions as events, for subscribers. */
export const listedStateVersions = listed({
  schemas: [
    events.StateVersionCreatedSchema,
    events.StateVersionFinalizedSchema,
    events.StateVersionDiscardedSchema,
    events.StateVersionSoftDeletedSchema,
    events.StateVersionPermanentlyDeletedSchema,
  ],
  // index: state_versions_pkey, workspace_states_pkey
  from: `state_versions t
    join workspace_states workspace on workspace.workspace_id = t.workspace_id`,
  columns: `t.id, t.workspace_id as "workspaceId", t.status, t.intermediate,
    t.rollback_version_id as "rollbackVersionId", t.serial, t.size,
    workspace.organization_id as "organizationId"`,
  organization: "workspace.organization_id",
  revision: "workspace.revision",
  where: isVisible,
  events: listedEvents,
});
