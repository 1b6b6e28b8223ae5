import type { App } from "../app.ts";
import { releaseBlobs } from "../blob/app.ts";
import type { Tx } from "../nouns.ts";
import { awaitsContent, discard, removeJson, type StateVersion } from "../state-version/domain.ts";
import { stateVersionDiscarded } from "../state-version/events-store.ts";
import type { VersionKey } from "../state-version/store.ts";
import { touch, type WorkspaceState } from "../workspace-state/domain.ts";

/**
 * Deletes the contents that discarded versions received without a raw state: a JSON form, or outputs sent at creation.
 * Without the raw state these contents are useless, and no retention policy would delete them. The caller must have
 * locked the rows of the versions. Records one event for each version, unless the workspace is dropped.
 */
export async function deleteContentsOfDiscarded(
  app: App,
  tx: Tx,
  workspaceState: WorkspaceState,
  discarded: readonly StateVersion[],
): Promise<void> {
  if (discarded.length === 0) return;
  await tx.stateVersionOutputs.removeOf(discarded.map(({ id }) => id));
  const keys = discarded.map(removeJson).filter((key) => key !== null);
  await releaseBlobs(app, tx, keys);
  if (workspaceState.droppedAt) return;
  for (const version of discarded) await tx.record(stateVersionDiscarded(workspaceState, version));
}

/** Discards the pending versions among `known` before a newer version is created. */
export async function discardSuperseded(
  app: App,
  tx: Tx,
  workspaceState: WorkspaceState,
  known: readonly StateVersion[],
  now: Date,
): Promise<void> {
  const pending = known.filter(({ status }) => status === "pending");
  for (const superseded of pending) {
    discard(superseded);
    touch(workspaceState, now);
    await deleteContentsOfDiscarded(app, tx, workspaceState, [superseded]);
  }
}

const BATCH = 100;

/** Discards pending versions whose upload window has ended. Returns the number of versions that this call found. */
export async function discardExpiredVersions(app: App): Promise<number> {
  const expired = await app.reads.stateVersions.listExpired(app.now(), BATCH);
  for (const version of expired) await discardExpired(app, version);
  return expired.length;
}

const discardExpired = (app: App, { id, workspaceId }: VersionKey): Promise<void> =>
  app.transaction(async (tx) => {
    const now = app.now();
    const workspaceState = await tx.workspaceStates.findForUpdate({ workspaceId });
    const version = await tx.stateVersions.findForUpdate(id);
    // Another replica may have discarded the version, or an upload may have finalized it.
    if (!workspaceState || version?.status !== "pending" || awaitsContent(version, now)) return;
    discard(version);
    touch(workspaceState, now);
    await deleteContentsOfDiscarded(app, tx, workspaceState, [version]);
  });
