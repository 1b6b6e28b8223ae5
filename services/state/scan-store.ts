import type { Database } from "@statehouse/postgres";

export type ScanName = "retention" | "verification";

/** Totals of one scan since it started. */
export interface ScanTally {
  seen: number;
  found: number;
  bytes: number;
}

export interface ScanProgress extends ScanTally {
  /** When the last complete scan ended. */
  finishedAt: Date | null;
}

/** One page of a scan, held until the lease ends. */
export interface ScanClaim {
  name: ScanName;
  holder: string;
  /** The id at which the previous page ended. */
  after: string;
}

/**
 * Leases for scans of all workspaces or all blobs. Any replica can claim the next page. When the lease has expired,
 * another replica can claim the same page.
 */
const leases = (database: Database) => ({
  /** Claims the next page. Returns undefined if no page is due, or if another replica holds the page. */
  async claim(
    name: ScanName,
    { holder, now, until }: { holder: string; now: Date; until: Date },
  ): Promise<ScanClaim | undefined> {
    const [row] = await database.query<{ after: string }>(
      `update scans set holder = $2, due_at = $4,
         started_at = case when after = '' then $3 else started_at end,
         seen = case when after = '' then 0 else seen end,
         found = case when after = '' then 0 else found end,
         bytes = case when after = '' then 0 else bytes end
       where name = $1 and due_at <= $3 returning after`,
      [name, holder, now, until],
    );
    return row && { name, holder, after: row.after };
  },

  /** Extends the lease. Returns false if another replica holds the page. */
  async renew({ name, holder }: ScanClaim, until: Date): Promise<boolean> {
    const rows = await database.query(
      "update scans set due_at = $3 where name = $1 and holder = $2 returning name",
      [name, holder, until],
    );
    return rows.length > 0;
  },

  /** Releases the page, which is due again at `dueAt`. */
  async release({ name, holder }: ScanClaim, dueAt: Date): Promise<void> {
    await database.query(
      "update scans set holder = null, due_at = $3 where name = $1 and holder = $2",
      [name, holder, dueAt],
    );
  },

  /** Ends the page. The next page begins after the id `after` and is due at `dueAt`; an empty `after` ends the scan. */
  async end(
    { name, holder }: ScanClaim,
    { after, now, dueAt }: { after: string; now: Date; dueAt: Date },
    { seen, found, bytes }: ScanTally,
  ): Promise<void> {
    await database.query(
      `update scans set after = $3, holder = null, due_at = $5,
         finished_at = case when $3 = '' then $4 else finished_at end,
         seen = seen + $6, found = found + $7, bytes = bytes + $8
       where name = $1 and holder = $2`,
      [name, holder, after, now, dueAt, seen, found, bytes],
    );
  },
});

const reads = (database: Database) => ({
  async getProgress(name: ScanName): Promise<ScanProgress> {
    const [progress] = await database.query<ScanProgress>(
      `select seen, found, bytes, finished_at as "finishedAt" from scans where name = $1`,
      [name],
    );
    if (!progress) throw new Error(`the row of the scan ${name} is missing`);
    return progress;
  },
});

export const scans = { leases, reads };
