/** What workspaces shows of a workspace's state without asking: a projection of what state says. */
export interface StateSummary {
  currentStateVersionId: string | null;
  resourceCount: number;
  latestChangeAt: Date | null;
  /** Of the row at state. */
  revision: bigint;
}

/** The summary as a workspace's row keeps it. */
export interface Summarized extends Omit<StateSummary, "revision"> {
  stateRevision: bigint;
}

export const noState: Summarized = {
  currentStateVersionId: null,
  resourceCount: 0,
  latestChangeAt: null,
  stateRevision: 0n,
};

/** Takes over a summary unless a newer one is known; says whether it speaks of a state not known before. */
export function applyStateSummary(workspace: Summarized, summary: StateSummary): boolean {
  if (summary.revision <= workspace.stateRevision) return false;
  const before = workspace.latestChangeAt?.getTime() ?? 0;
  workspace.currentStateVersionId = summary.currentStateVersionId;
  workspace.resourceCount = summary.resourceCount;
  workspace.latestChangeAt = summary.latestChangeAt;
  workspace.stateRevision = summary.revision;
  return (summary.latestChangeAt?.getTime() ?? 0) > before;
}
