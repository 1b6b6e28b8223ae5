import type { App } from "../app.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import { type Collected, collectWorkspaces } from "../retention/app.ts";
import type { RunningState } from "./running-state.ts";

/** Creates a workspace with `count` versions, each under its own lock; returns their ids and blobs, oldest first. */
export async function written(running: RunningState, count: number) {
  const workspaceId = running.lockedWorkspace();
  const versions: { id: string; key: string }[] = [];
  for (let serial = 1; serial <= count; serial++) {
    const bytes = `state ${serial}`;
    const created = await running.create(workspaceId, bytes, {
      serial: BigInt(serial),
      inline: true,
    });
    const attempt = running.attemptOf(bytes);
    await running.put(created.internalUploadPath, bytes, attempt);
    versions.push({ id: created.stateVersion?.id ?? "", key: attempt.blobKey });
  }
  return { workspaceId: workspaceId as WorkspaceId, versions, ids: versions.map(({ id }) => id) };
}

/** Moves the creation time of the versions `days` days into the past. */
export const age = (running: RunningState, ids: readonly string[], days: number) =>
  running.database.query(
    "update state_versions set created_at = created_at - $2 * interval '1 day' where id = any($1)",
    [ids, days],
  );

/** Applies retention to the workspaces; returns the deleted versions, and why other due versions were retained. */
export async function collect(
  running: RunningState,
  workspaceIds: readonly WorkspaceId[],
  { dryRun = false } = {},
) {
  const collected: Collected[] = [];
  const kept: string[] = [];
  await collectWorkspaces(running.app, workspaceIds, {
    dryRun,
    onBatch(batch, reasons) {
      collected.push(...batch);
      kept.push(...reasons);
    },
  });
  return { ids: collected.map(({ id }) => id), collected, kept };
}

/**
 * Returns the statuses of the workspace's versions, oldest first. Omits the prefix that all statuses of deleted
 * versions have.
 */
export const statuses = async (running: RunningState, workspaceId: string) =>
  (
    await running.database.query<{ status: string }>(
      "select status from state_versions where workspace_id = $1 order by position",
      [workspaceId],
    )
  ).map(({ status }) => status.replace("backing_data_", ""));

/** Returns the keys among `keys` whose bytes are scheduled for deletion. */
export const deletions = async (running: RunningState, keys: readonly string[]) =>
  (
    await running.database.query<{ key: string }>(
      "select key from blob_deletions where key = any($1) order by key",
      [keys],
    )
  ).map(({ key }) => key);

/** Returns the keys among `keys` to which a version refers. */
export const ownedKeys = async ({ reads }: App, keys: readonly string[]): Promise<Set<string>> =>
  new Set(await reads.blobs.listOwned(keys));

/** The status of a permanently deleted version, as `statuses` returns it. */
export const gone = "permanently_deleted";
