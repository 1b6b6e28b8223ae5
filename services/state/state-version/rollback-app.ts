import { authorize, type Caller } from "@statehouse/authorization";
import { newId } from "@statehouse/postgres/ids";
import type { App } from "../app.ts";
import { discardSuperseded } from "../discarded-version/app.ts";
import { rollbackWithoutLock, stateVersionNotFound } from "../errors-domain.ts";
import type { StateVersionId, WorkspaceId } from "../ids-domain.ts";
import { writableEpoch } from "../lock-epoch/domain.ts";
import type { Tx } from "../nouns.ts";
import { authorizeRead, requireNoOrganizationToken } from "../state-access-app.ts";
import { documentOf, type StateVersionDocument } from "../state-version-document/app.ts";
import { applyPlacement, targetOf, touch, type WorkspaceState } from "../workspace-state/domain.ts";
import { workspaceStateChanged } from "../workspace-state/store.ts";
import { makeCurrent, noteLatestChange, type StateVersion } from "./domain.ts";
import {
  stateVersionCreated,
  stateVersionFinalized,
  stateVersionProcessed,
} from "./events-store.ts";
import {
  copyVersion,
  followingSerial,
  repeatedRollback,
  requireOwnSource,
} from "./rollback-domain.ts";

export interface RollbackStateVersion {
  workspaceId: WorkspaceId;
  /** The version to copy. */
  sourceId: StateVersionId;
}

/**
 * Creates a copy of an earlier version with a new serial, and makes it the workspace's current version. If an earlier
 * call of the same request created the copy, returns that copy. No bytes are copied: the blobs get another reference.
 * Throws `notFound` or `forbidden`; `invalid` if the version belongs to another workspace; and 409 if the caller does
 * not hold the lock, the lock was released, or the version has no contents.
 */
export async function rollbackStateVersion(
  app: App,
  caller: Caller,
  { workspaceId, sourceId }: RollbackStateVersion,
): Promise<StateVersionDocument> {
  requireNoOrganizationToken(caller);
  const shown = await app.reads.stateVersions.get(sourceId);
  await authorizeRead(app, caller, "state:read", shown, "state version");
  const { lock, placement } = await app.workspaces.getLock(workspaceId);

  const copied = await app.transaction(async (tx) => {
    const now = app.now();
    const workspaceState = await tx.workspaceStates.getOrInsertForUpdate(workspaceId);
    applyPlacement(workspaceState, placement);
    authorize(caller, "state:write", targetOf(workspaceState));
    requireOwnSource(shown, workspaceId);
    const epoch = writableEpoch(workspaceState, lock, caller.principal, rollbackWithoutLock);
    const known = await tx.stateVersions.listBeforeRollback(workspaceId, { epoch, sourceId });
    const repeated = repeatedRollback(sourceId, epoch, known);
    if (repeated) return await tx.stateVersions.commit(workspaceState, repeated);
    const source = known.find(({ id }) => id === sourceId);
    if (!source) throw stateVersionNotFound();

    const serial = followingSerial(epoch, known);
    await discardSuperseded(app, tx, workspaceState, known, now);
    const copy = copyVersion(source, {
      id: newId("sv"),
      position: touch(workspaceState, now),
      lockEpoch: epoch,
      serial,
      createdAt: now,
      createdByType: caller.principal.type,
      createdById: caller.principal.id,
    });
    await tx.stateVersions.saveCopy(copy, source.id);
    makeCurrent(workspaceState, copy, now);
    noteLatestChange(workspaceState, copy);
    await recordCopy(tx, workspaceState, copy);
    if (copy.extractionDueAt) tx.afterCommit(app.wakes.extraction.wake);
    return await tx.stateVersions.commit(workspaceState, copy);
  });
  return documentOf(app, caller, copied);
}

/** Records the same events as for an uploaded state. */
async function recordCopy(
  tx: Tx,
  workspaceState: WorkspaceState,
  copy: StateVersion,
): Promise<void> {
  await tx.record(stateVersionCreated(workspaceState, copy));
  await tx.record(stateVersionFinalized(workspaceState, copy));
  if (copy.resourcesProcessed) {
    const comparison = await tx.stateVersionDigests.compareWithPrevious(copy);
    await tx.record(stateVersionProcessed(workspaceState, copy, comparison));
  }
  await tx.record(workspaceStateChanged(workspaceState));
}
