import { authorize, type Caller, requireSight } from "@statehouse/authorization";
import {
  type BackingDataAction,
  backingDataActions,
  changeBackingData,
} from "../domain/backing-data.ts";
import { stateVersionNotFound } from "../domain/errors.ts";
import { backingDataChanged } from "../domain/events.ts";
import type { StateVersionId } from "../domain/ids.ts";
import type { StateVersion } from "../domain/state-version.ts";
import { targetOf, touch, type WorkspaceState } from "../domain/workspace-state.ts";
import type { Transaction } from "../store/transaction.ts";
import type { App } from "./app.ts";
import { documentOf, type StateVersionDocument } from "./state-version-document.ts";

/** Makes a version's contents unreadable, until they are restored or, after some days, gone. */
export const softDeleteBackingData = (
  app: App,
  caller: Caller,
  id: StateVersionId,
): Promise<StateVersionDocument> => act(app, caller, id, softDelete);

/** Makes contents readable again that were soft-deleted. */
export const restoreBackingData = (
  app: App,
  caller: Caller,
  id: StateVersionId,
): Promise<StateVersionDocument> => act(app, caller, id, restore);

/** Gives up soft-deleted contents for good. */
export const permanentlyDeleteBackingData = (
  app: App,
  caller: Caller,
  id: StateVersionId,
): Promise<StateVersionDocument> => act(app, caller, id, permanentlyDelete);

/** A version and its workspace, both held by the transaction. */
export interface HeldVersion {
  workspace: WorkspaceState;
  version: StateVersion;
}

/** Throws 400 unless the version is finalized and not the current one. */
export const softDelete = (app: App, tx: Transaction, held: HeldVersion): Promise<void> =>
  change(app, tx, "softDelete", held);

const restore = (app: App, tx: Transaction, held: HeldVersion): Promise<void> =>
  change(app, tx, "restore", held);

/** Ends the contents of a soft-deleted version. Throws 400 for every other. */
export async function permanentlyDelete(
  app: App,
  tx: Transaction,
  held: HeldVersion,
): Promise<void> {
  await change(app, tx, "permanentlyDelete", held);
  await deleteContents(app, tx, [held.version]);
}

/**
 * Deletes the contents of versions that the transaction holds for good: whoever deletes backing data does it by this.
 * The rows stay, without outputs and resources; the bytes go when nothing else refers to them.
 */
export async function deleteContents(
  app: App,
  tx: Transaction,
  versions: readonly Pick<StateVersion, "id" | "blobKey" | "jsonBlobKey">[],
): Promise<void> {
  await tx.endContents(versions.map(({ id }) => id));
  const keys = versions.flatMap(({ blobKey, jsonBlobKey }) => [blobKey, jsonBlobKey]);
  await tx.releaseBlobs(
    keys.filter((key) => key !== null),
    app.now(),
  );
  tx.afterCommit(app.wakes.deletion.wake);
}

async function change(
  app: App,
  tx: Transaction,
  action: BackingDataAction,
  { workspace, version }: HeldVersion,
): Promise<void> {
  const now = app.now();
  changeBackingData(action, { workspace, version, now });
  touch(workspace, now);
  if (workspace.droppedAt) return;
  await tx.record(backingDataChanged(backingDataActions[action].event, workspace, version));
}

async function act(
  app: App,
  caller: Caller,
  id: StateVersionId,
  action: typeof softDelete,
): Promise<StateVersionDocument> {
  const shown = await app.reads.version(id);
  if (!shown) throw stateVersionNotFound();
  await app.transaction(async (tx) => {
    const workspace = await tx.knownWorkspaceForUpdate(shown.workspaceId);
    const version = workspace && (await tx.versionForUpdate(id));
    if (!version) throw stateVersionNotFound();
    requireSight(caller, "state:read", targetOf(workspace), "state version");
    authorize(caller, "state:manage-backing-data", targetOf(workspace), "state version");
    await action(app, tx, { workspace, version });
  });
  const version = await app.reads.version(id);
  if (!version) throw stateVersionNotFound();
  return documentOf(app, caller, version);
}
