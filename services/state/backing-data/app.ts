import { authorize, authorizeOrNotFound, type Caller } from "@statehouse/authorization";
import type { App } from "../app.ts";
import { releaseBlobs } from "../blob/app.ts";
import { stateVersionNotFound } from "../errors-domain.ts";
import type { StateVersionId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import type { StateVersion } from "../state-version/domain.ts";
import {
  stateVersionPermanentlyDeleted,
  stateVersionRestored,
  stateVersionSoftDeleted,
} from "../state-version/events-store.ts";
import type { VersionKey } from "../state-version/store.ts";
import { documentOf, type StateVersionDocument } from "../state-version-document/app.ts";
import { targetOf, touch, type WorkspaceState } from "../workspace-state/domain.ts";
import { type BackingDataAction, changeBackingData } from "./domain.ts";

/**
 * Makes a version's contents unreadable until they are restored. After `softDeletionMs` they are deleted permanently.
 * Throws 400 unless the version is finalized and is neither the current version nor a snapshot newer than it.
 */
export const softDeleteBackingData = backingDataAction("softDelete");

/** Makes soft-deleted contents readable again. Throws 400 unless the version is soft-deleted. */
export const restoreBackingData = backingDataAction("restore");

/**
 * Deletes soft-deleted contents permanently. Throws 400 unless the version is soft-deleted and is neither the current
 * version nor a snapshot newer than it.
 */
export const permanentlyDeleteBackingData = backingDataAction("permanentlyDelete");

/** Returns the use case of an action. */
function backingDataAction(action: BackingDataAction) {
  return async (app: App, caller: Caller, id: StateVersionId): Promise<StateVersionDocument> => {
    const { workspaceId } = await app.reads.stateVersions.get(id);
    const changed = await app.transaction(async (tx) => {
      const workspaceState = await tx.workspaceStates.findForUpdate({ workspaceId });
      if (!workspaceState) throw stateVersionNotFound();
      const version = await tx.stateVersions.getForUpdate(id);
      authorizeOrNotFound(caller, "state:read", targetOf(workspaceState), "state version");
      authorize(caller, "state:manage-backing-data", targetOf(workspaceState), "state version");
      await change(app, tx, action, { workspaceState, version });
      if (action === "permanentlyDelete") {
        await deleteContents(app, tx, [version], { permanent: true });
      }
      return await tx.stateVersions.commit(workspaceState, version);
    });
    return documentOf(app, caller, changed);
  };
}

/**
 * Permanently deletes contents, outputs and resources of versions; the rows of the versions remain. The caller must
 * have locked these rows. Deletions by a request, at the end of the restoration period and by a retention policy all
 * use this function.
 *
 * Bytes to which no other version refers are deleted from the store after `blobDeletionDelayMs`, or at once if
 * `permanent` is set.
 */
export async function deleteContents(
  app: App,
  tx: Tx,
  versions: readonly Pick<StateVersion, "id" | "blobKey" | "jsonBlobKey">[],
  deletion: { permanent?: boolean } = {},
): Promise<void> {
  await tx.stateVersions.markContentsDeleted(versions.map(({ id }) => id));
  const keys = versions.flatMap(({ blobKey, jsonBlobKey }) => [blobKey, jsonBlobKey]);
  const held = keys.filter((key) => key !== null);
  await releaseBlobs(app, tx, held, deletion);
}

const eventOf = {
  softDelete: stateVersionSoftDeleted,
  restore: stateVersionRestored,
  permanentlyDelete: stateVersionPermanentlyDeleted,
} satisfies Record<BackingDataAction, unknown>;

/** Changes the status of a version. The transaction must have locked both rows. */
async function change(
  app: App,
  tx: Tx,
  action: BackingDataAction,
  { workspaceState, version }: { workspaceState: WorkspaceState; version: StateVersion },
): Promise<void> {
  const now = app.now();
  changeBackingData(action, { workspaceState, version, now });
  touch(workspaceState, now);
  if (workspaceState.droppedAt) return;
  await tx.record(eventOf[action](workspaceState, version));
}

const BATCH = 100;

/**
 * Permanently deletes soft-deleted contents whose restoration period has ended. Returns the number of versions that
 * this call found.
 */
export async function deleteExpiredBackingData(app: App): Promise<number> {
  const before = new Date(app.now().getTime() - app.settings.softDeletionMs);
  const expired = await app.reads.stateVersions.listSoftDeleted(before, BATCH);
  for (const version of expired) await deleteExpired(app, version, before);
  return expired.length;
}

const deleteExpired = (app: App, { id, workspaceId }: VersionKey, before: Date): Promise<void> =>
  app.transaction(async (tx) => {
    const workspaceState = await tx.workspaceStates.findForUpdate({ workspaceId });
    const version = workspaceState && (await tx.stateVersions.findForUpdate(id));
    // Another replica or the collector may have deleted the contents, or a user may have restored them and soft-deleted
    // them again.
    if (!workspaceState || !version?.softDeletedAt || version.softDeletedAt > before) return;
    await change(app, tx, "permanentlyDelete", { workspaceState, version });
    await deleteContents(app, tx, [version]);
  });
