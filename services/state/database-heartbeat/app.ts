import type { App } from "../app.ts";
import { type DatabaseInterruption, interruptionBetween } from "../blob-deletion/domain.ts";
import type { DatabaseHeartbeatReads } from "./store.ts";

/**
 * Records that the database is in use. Returns the interruptions during which rows of stored bytes may have been lost.
 */
export const recordHeartbeat = (app: App): Promise<DatabaseInterruption[]> =>
  app.transaction(async (tx) => {
    const last = await tx.databaseHeartbeats.findForUpdate();
    const now = { database: await tx.databaseHeartbeats.getIdentity(), beatAt: app.now() };
    const interruption = interruptionBetween(last, now);
    if (interruption) {
      const since = interruption.since.toISOString();
      app.logger.info(
        { since },
        "the database may have lost rows since this time; ownerless blobs are kept for another BLOB_DELETION_DELAY",
      );
      await tx.databaseHeartbeats.addInterruption(interruption);
    }
    await tx.databaseHeartbeats.put(now);
    const ended = new Date(now.beatAt.getTime() - app.settings.blobDeletionDelayMs);
    await tx.databaseHeartbeats.removeInterruptionsBefore(ended);
    return tx.databaseHeartbeats.listInterruptions();
  });

/**
 * Returns the same interruptions as `recordHeartbeat`, but writes nothing. Read-only commands use it, because they may
 * be the first to run after a restore.
 */
export async function currentInterruptions(
  heartbeats: DatabaseHeartbeatReads,
  at: Date,
): Promise<DatabaseInterruption[]> {
  const now = { database: await heartbeats.getIdentity(), beatAt: at };
  const latest = interruptionBetween(await heartbeats.find(), now);
  const recorded = await heartbeats.listInterruptions();
  return latest ? [...recorded, latest] : recorded;
}
