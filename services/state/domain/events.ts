import type { StateVersionId, WorkspaceId } from "./ids.ts";
import type { StateVersion } from "./state-version.ts";
import { type StateSummary, summaryOf, type WorkspaceState } from "./workspace-state.ts";

interface OfVersion {
  stateVersionId: StateVersionId;
  workspaceId: WorkspaceId;
  organizationId: string;
  revision: bigint;
}

export type BackingDataEvent =
  | "stateVersionSoftDeleted"
  | "stateVersionRestored"
  | "stateVersionPermanentlyDeleted";

/** What state tells the world; each becomes the message of the same name in events.proto. */
export type StateEvent =
  | ({
      type: "stateVersionCreated";
      serial: bigint;
      rollbackStateVersionId: StateVersionId | null;
    } & OfVersion)
  | ({
      type: "stateVersionFinalized";
      serial: bigint;
      size: bigint;
      intermediate: boolean;
    } & OfVersion)
  | ({ type: "stateVersionDiscarded" } & OfVersion)
  | ({ type: BackingDataEvent } & OfVersion)
  | {
      type: "stateVersionsCollected";
      workspaceId: WorkspaceId;
      organizationId: string;
      stateVersionIds: StateVersionId[];
      revision: bigint;
    }
  | ({ type: "stateVersionProcessed"; resourceCount: number } & OfVersion)
  | ({ type: "workspaceStateChanged"; organizationId: string } & StateSummary);

const ofVersion = (workspace: WorkspaceState, version: StateVersion): OfVersion => ({
  stateVersionId: version.id,
  workspaceId: workspace.workspaceId,
  organizationId: workspace.organizationId ?? "",
  revision: workspace.revision,
});

export const stateVersionCreated = (w: WorkspaceState, version: StateVersion): StateEvent => ({
  type: "stateVersionCreated",
  ...ofVersion(w, version),
  serial: version.serial,
  rollbackStateVersionId: version.rollbackVersionId,
});

export const stateVersionFinalized = (w: WorkspaceState, version: StateVersion): StateEvent => ({
  type: "stateVersionFinalized",
  ...ofVersion(w, version),
  serial: version.serial,
  size: version.size ?? 0n,
  intermediate: version.intermediate,
});

export const stateVersionDiscarded = (w: WorkspaceState, version: StateVersion): StateEvent => ({
  type: "stateVersionDiscarded",
  ...ofVersion(w, version),
});

export const backingDataChanged = (
  type: BackingDataEvent,
  w: WorkspaceState,
  version: StateVersion,
): StateEvent => ({ type, ...ofVersion(w, version) });

export const stateVersionsCollected = (
  { workspaceId, organizationId, revision }: WorkspaceState,
  versions: readonly Pick<StateVersion, "id">[],
): StateEvent => ({
  type: "stateVersionsCollected",
  workspaceId,
  organizationId: organizationId ?? "",
  stateVersionIds: versions.map(({ id }) => id),
  revision,
});

export const stateVersionProcessed = (w: WorkspaceState, version: StateVersion): StateEvent => ({
  type: "stateVersionProcessed",
  ...ofVersion(w, version),
  resourceCount: version.resourceCount,
});

export const workspaceStateChanged = (workspace: WorkspaceState): StateEvent => ({
  type: "workspaceStateChanged",
  organizationId: workspace.organizationId ?? "",
  ...summaryOf(workspace),
});
