import type { StateVersionId, WorkspaceId } from "./ids-domain.ts";
import type { Comparison } from "./state-digest/domain.ts";
import type { StateVersion } from "./state-version/domain.ts";
import { type StateSummary, summaryOf, type WorkspaceState } from "./workspace-state/domain.ts";

interface OfWorkspace {
  workspaceId: WorkspaceId;
  organizationId: string;
  revision: bigint;
}

interface OfVersion extends OfWorkspace {
  stateVersionId: StateVersionId;
}

/** The events of the state service. Each is published as the message of the same name in events.proto. */
export interface StateEvents {
  stateVersionCreated: OfVersion & {
    serial: bigint;
    rollbackStateVersionId: StateVersionId | null;
  };
  stateVersionFinalized: OfVersion & { serial: bigint; size: bigint; intermediate: boolean };
  stateVersionDiscarded: OfVersion;
  stateVersionProcessed: OfVersion & {
    resourceCount: number;
    serial: bigint;
    lineage: string;
    comparison: Comparison;
  };
  stateVersionSoftDeleted: OfVersion;
  stateVersionRestored: OfVersion;
  stateVersionPermanentlyDeleted: OfVersion;
  stateVersionsCollected: OfWorkspace & { stateVersionIds: StateVersionId[] };
  workspaceStateChanged: StateSummary & { organizationId: string };
}

export type StateEvent = {
  [Type in keyof StateEvents]: { type: Type } & StateEvents[Type];
}[keyof StateEvents];

const ofWorkspace = ({ workspaceId, organizationId, revision }: WorkspaceState): OfWorkspace => ({
  workspaceId,
  organizationId: organizationId ?? "",
  revision,
});

const ofVersion = (workspaceState: WorkspaceState, { id }: StateVersion): OfVersion => ({
  stateVersionId: id,
  ...ofWorkspace(workspaceState),
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

export const stateVersionProcessed = (
  w: WorkspaceState,
  version: StateVersion,
  comparison: Comparison,
): StateEvent => ({
  type: "stateVersionProcessed",
  ...ofVersion(w, version),
  resourceCount: version.resourceCount,
  serial: version.serial,
  lineage: version.lineage,
  comparison,
});

export const stateVersionSoftDeleted = (w: WorkspaceState, version: StateVersion): StateEvent => ({
  type: "stateVersionSoftDeleted",
  ...ofVersion(w, version),
});

export const stateVersionRestored = (w: WorkspaceState, version: StateVersion): StateEvent => ({
  type: "stateVersionRestored",
  ...ofVersion(w, version),
});

export const stateVersionPermanentlyDeleted = (
  w: WorkspaceState,
  version: StateVersion,
): StateEvent => ({ type: "stateVersionPermanentlyDeleted", ...ofVersion(w, version) });

export const stateVersionsCollected = (
  w: WorkspaceState,
  versions: readonly Pick<StateVersion, "id">[],
): StateEvent => ({
  type: "stateVersionsCollected",
  ...ofWorkspace(w),
  stateVersionIds: versions.map(({ id }) => id),
});

export const workspaceStateChanged = (w: WorkspaceState): StateEvent => ({
  type: "workspaceStateChanged",
  organizationId: w.organizationId ?? "",
  ...summaryOf(w),
});
