/** Which database it is, and when a replica last used it. */
export interface DatabaseHeartbeat {
  /** Changes with the server, the database or its timeline. */
  database: string;
  beatAt: Date;
}

/** A time in which rows can have been lost, because the database was restored from a backup, or no replica ran. */
export interface DatabaseInterruption {
  since: Date;
  /** When a replica noticed it. */
  until: Date;
}

/** How long bytes remain in the store, in ms. */
export interface BlobRetention {
  /** After they lost their last row. */
  blobDeletionDelayMs: number;
  /** After an upload attempt began; it commits within three quarters of this time. */
  sweepGraceMs: number;
}

/** Longer than a restart of all replicas. A restore to a later time than this ago is detected by the database's identity only. */
const LONGEST_PAUSE_MS = 5 * 60_000;

/**
 * The interruption between two heartbeats; undefined if none. Without an earlier heartbeat, rows of any time can have
 * been lost: the database can be restored from a time before the first one.
 */
export function interruptionBetween(
  last: DatabaseHeartbeat | undefined,
  now: DatabaseHeartbeat,
): DatabaseInterruption | undefined {
  if (!last) return { since: new Date(0), until: now.beatAt };
  const isSame = last.database === now.database;
  if (isSame && now.beatAt.getTime() - last.beatAt.getTime() <= LONGEST_PAUSE_MS) return undefined;
  return { since: last.beatAt, until: now.beatAt };
}

/**
 * Until when bytes without a row and without an entry in `blob_deletions` remain in the store. The delay counts from
 * the start of their upload, or from the end of an interruption in which they can have lost their row.
 */
export function keptUntil(
  startedAt: Date,
  interruptions: readonly DatabaseInterruption[],
  { blobDeletionDelayMs, sweepGraceMs }: BlobRetention,
): Date {
  const started = startedAt.getTime();
  // An upload that began before the last heartbeat can have been committed after it.
  const ends = interruptions
    .filter(({ since, until }) => since.getTime() - sweepGraceMs <= started && startedAt <= until)
    .map(({ until }) => (blobDeletionDelayMs > 0 ? until.getTime() + blobDeletionDelayMs : 0));
  return new Date(Math.max(started + Math.max(blobDeletionDelayMs, sweepGraceMs), ...ends));
}
