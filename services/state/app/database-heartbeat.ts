import { type DatabaseInterruption, interruptionBetween } from "../domain/blob-deletion.ts";
import type { DatabaseHeartbeatReads } from "../store/database-heartbeat.ts";
import type { App } from "./app.ts";

/** Records that the database is in use. Returns the interruptions in which bytes can have lost their rows. */
export const recordHeartbeat = (app: App): Promise<DatabaseInterruption[]> =>
  app.transaction(async (tx) => {
    const last = await tx.databaseHeartbeats.findForUpdate();
    const now = { database: await tx.databaseHeartbeats.getIdentity(), beatAt: app.now() };
    const interruption = interruptionBetween(last, now);
    if (interruption) {
      const since = interruption.since.toISOString();
      app.logger.info({ since }, "database interruption recorded; bytes without rows are kept");
      await tx.databaseHeartbeats.addInterruption(interruption);
    }
    await tx.databaseHeartbeats.put(now);
    const ended = new Date(now.beatAt.getTime() - app.settings.blobDeletionDelayMs);
    await tx.databaseHeartbeats.removeInterruptionsBefore(ended);
    return tx.databaseHeartbeats.listInterruptions();
  });

/** As `recordHeartbeat`, for a command that changes nothing and may be the first one after a restore. */
export async function currentInterruptions(
  heartbeats: DatabaseHeartbeatReads,
  at: Date,
): Promise<DatabaseInterruption[]> {
  const now = { database: await heartbeats.getIdentity(), beatAt: at };
  const latest = interruptionBetween(await heartbeats.find(), now);
  const recorded = await heartbeats.listInterruptions();
  return latest ? [...recorded, latest] : recorded;
}
