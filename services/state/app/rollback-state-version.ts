import { authorize, type Caller } from "@statehouse/authorization";
import { newId } from "@statehouse/postgres";
import { stateVersionNotFound } from "../domain/errors.ts";
import {
  stateVersionCreated,
  stateVersionFinalized,
  stateVersionProcessed,
  workspaceStateChanged,
} from "../domain/events.ts";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import { makeCurrent, noteLatestChange, type StateVersion } from "../domain/state-version.ts";
import {
  copyVersion,
  followingSerial,
  repeatedRollback,
  requireOwnSource,
  rollbackEpoch,
} from "../domain/state-version-rollback.ts";
import { applyPlacement, targetOf, touch, type WorkspaceState } from "../domain/workspace-state.ts";
import type { Transaction } from "../store/transaction.ts";
import type { App } from "./app.ts";
import { requireNoOrganizationToken } from "./organization-token.ts";
import { authorizeRead } from "./read-access.ts";
import { documentOf, type StateVersionDocument } from "./state-version-document.ts";
import { supersedePending } from "./supersession.ts";

export interface RollbackStateVersion {
  workspaceId: WorkspaceId;
  /** The version to duplicate. */
  sourceId: StateVersionId;
}

/**
 * Makes a copy of an earlier version, with a new serial, the workspace's current one; a repeat answers the
 * copy that exists. No byte moves: the blobs get another reference. Throws `notFound`, `forbidden`, `invalid`
 * for another workspace's version, and 409 without the caller's lock or without contents to copy.
 */
export async function rollbackStateVersion(
  app: App,
  caller: Caller,
  { workspaceId, sourceId }: RollbackStateVersion,
): Promise<StateVersionDocument> {
  requireNoOrganizationToken(caller);
  const shown = await app.reads.version(sourceId);
  if (!shown) throw stateVersionNotFound();
  await authorizeRead(app, caller, "state:read", shown, "state version");
  const { lock, placement } = await app.workspaces.getLock(workspaceId);

  const copyId = await app.transaction(async (tx): Promise<StateVersionId> => {
    const now = app.now();
    const workspace = await tx.workspaceForUpdate(workspaceId);
    applyPlacement(workspace, placement);
    authorize(caller, "state:write", targetOf(workspace));
    requireOwnSource(shown, workspaceId);
    const epoch = rollbackEpoch(workspace, lock, caller.principal);
    const known = await tx.versionsBeforeRollback(workspaceId, { epoch, sourceId });
    const repeated = repeatedRollback(sourceId, epoch, known);
    if (repeated) return repeated.id;
    const source = known.find(({ id }) => id === sourceId);
    if (!source) throw stateVersionNotFound();

    const serial = followingSerial(epoch, known);
    await supersedePending(app, tx, workspace, known, now);
    const copy = copyVersion(source, {
      id: newId("sv"),
      position: touch(workspace, now),
      lockEpoch: epoch,
      serial,
      createdAt: now,
      createdByType: caller.principal.type,
      createdById: caller.principal.id,
    });
    await tx.addCopy(copy, source.id);
    makeCurrent(workspace, copy, now);
    noteLatestChange(workspace, copy);
    await recordCopy(tx, workspace, copy);
    if (copy.extractionDueAt) tx.afterCommit(app.wakes.extraction.wake);
    return copy.id;
  });

  const version = await app.reads.version(copyId);
  if (!version) throw stateVersionNotFound();
  return documentOf(app, caller, version);
}

/** The same events as if its state had been uploaded. */
async function recordCopy(
  tx: Transaction,
  workspace: WorkspaceState,
  copy: StateVersion,
): Promise<void> {
  await tx.record(stateVersionCreated(workspace, copy));
  await tx.record(stateVersionFinalized(workspace, copy));
  if (copy.resourcesProcessed) await tx.record(stateVersionProcessed(workspace, copy));
  await tx.record(workspaceStateChanged(workspace));
}
