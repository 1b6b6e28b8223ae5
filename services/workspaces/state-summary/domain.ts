/**
 * The summary of a workspace's state. This service stores it, so that documents can show it without a call to the state
 * service.
 */
export interface StateSummary {
  currentStateVersionId: string | null;
  resourceCount: number;
  latestChangeAt: Date | null;
  /** The revision of the workspace's row in the state service. */
  revision: bigint;
}

/** The summary as part of a workspace's row. */
export interface Summarized extends Omit<StateSummary, "revision"> {
  stateRevision: bigint;
}

export const noState: Summarized = {
  currentStateVersionId: null,
  resourceCount: 0,
  latestChangeAt: null,
  stateRevision: 0n,
};

/** Stores a summary if it is newer than the stored one. Returns whether the state has changed between the two. */
export function applyStateSummary(workspace: Summarized, summary: StateSummary): boolean {
  if (summary.revision <= workspace.stateRevision) return false;
  const before = workspace.latestChangeAt?.getTime() ?? 0;
  setStateSummary(workspace, summary);
  return (summary.latestChangeAt?.getTime() ?? 0) > before;
}

/** Stores a summary, even if a newer one is stored. */
export function setStateSummary(workspace: Summarized, summary: StateSummary): void {
  workspace.currentStateVersionId = summary.currentStateVersionId;
  workspace.resourceCount = summary.resourceCount;
  workspace.latestChangeAt = summary.latestChangeAt;
  workspace.stateRevision = summary.revision;
}
