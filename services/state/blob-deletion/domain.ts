/** Identifies the database, and records when a replica last used it. */
export interface DatabaseHeartbeat {
  /** Identity of the database; differs after a restore to another server, another database or another timeline. */
  database: string;
  beatAt: Date;
}

/**
 * A period whose rows may have been lost. Between two heartbeats that are far apart, the database may have been restored
 * from a backup, or no replica may have run.
 */
export interface DatabaseInterruption {
  since: Date;
  /** When a replica detected the interruption. */
  until: Date;
}

/** How long bytes without a blob row remain in the store, in ms. */
export interface BlobRetention {
  /** The time after their row was deleted. `keptUntil` describes bytes whose row may have been lost. */
  blobDeletionDelayMs: number;
  /** The time after their upload attempt started. The attempt commits within three quarters of this time. */
  sweepGraceMs: number;
}

/**
 * A longer gap between two heartbeats counts as an interruption. Must exceed the time that a restart of all replicas
 * takes. If the database is restored to a point less than this long ago, the gap does not reveal the restore; only the
 * changed database identity does.
 */
const LONGEST_PAUSE_MS = 5 * 60_000;

/**
 * Returns the interruption between two heartbeats; undefined if there is none. Without an earlier heartbeat, the
 * interruption is taken to start at the Unix epoch: the database may have been restored to a time before its first
 * heartbeat.
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
 * Returns the time until which the store keeps bytes that have neither a blob row nor a row in `blob_deletions`. They are
 * kept for the deletion delay after their upload started, or after the end of the last interruption in which their row
 * may have been lost, and at least for the grace period after their upload started.
 */
export function keptUntil(
  startedAt: Date,
  interruptions: readonly DatabaseInterruption[],
  { blobDeletionDelayMs, sweepGraceMs }: BlobRetention,
): Date {
  const started = startedAt.getTime();
  // An upload that began before an interruption may have been committed during the interruption.
  const ends = interruptions
    .filter(({ since, until }) => since.getTime() - sweepGraceMs <= started && startedAt <= until)
    .map(({ until }) => (blobDeletionDelayMs > 0 ? until.getTime() + blobDeletionDelayMs : 0));
  return new Date(Math.max(started + Math.max(blobDeletionDelayMs, sweepGraceMs), ...ends));
}
