import type { Database } from "@statehouse/postgres";

/** A row of the table of leases. */
export interface HeldLease {
  holder: string;
  /** Grows with each renewal that extends the lease. */
  renewal: number;
  leaseMs: number;
}

/** Whether there are changes, and the leases whose holders have not acknowledged all of them. */
export interface UnacknowledgedChanges {
  /** The snapshot in which the changes are visible. */
  snapshot: string;
  /** Identifies the database server. The value differs after a restart and after a restore. */
  database: string;
  /**
   * Whether the table of leases is recorded as complete: it then contains every lease that has not ended. After a start
   * or a restore of the database server, leases can be missing. The value is then false until the access service has
   * waited so long that every lease granted before must have ended.
   */
  known: boolean;
  /** Whether the table of changes contains a change. */
  changes: boolean;
  leases: readonly HeldLease[];
}

/**
 * A position in the sequence of changes: the database server and a snapshot. A holder that sends a position
 * acknowledges all changes that the snapshot of the position contains.
 */
interface Position {
  position: string;
}

/** The current position, and whether something has changed since the position of a lease. */
interface Progress extends Position {
  changed: boolean;
}

// Identifies the database server. After a restore, rows of leases can be missing. The value then differs: a restore
// from a dump changes the oids, a recovery changes the timeline, and a copy of the disk requires a new start of the
// server.
const server = `concat_ws('-',
    extract(epoch from pg_postmaster_start_time()),
    (select system_identifier from pg_control_system()),
    (select oid from pg_database where datname = current_database()),
    'authentication_leases'::regclass::oid,
    left(pg_walfile_name(pg_current_wal_lsn()), 8))`;

// A holder reads no principal under a new lease before this statement has committed, so no principal that it keeps is
// older than the lease. If the same request arrives again, it grants nothing, because the holder may already keep
// principals that it read under the lease.
// index: authentication_leases_pkey
const grant = `
  insert into authentication_leases (holder, lease_ms, acknowledged)
  values ($1, $2, pg_current_snapshot())
  on conflict (holder) do nothing
  returning ${server} || '/' || acknowledged::text as position`;

// A row is visible only when its transaction has committed. Transaction numbers cannot be compared instead, because
// transactions do not commit in the order of their numbers.
// index: none, the table contains only changes that a lease has not acknowledged
const changedSince = (position: string) => `exists (
    select from authentication_changes
    where not pg_visible_in_snapshot(xid, split_part(${position}, '/', 2)::pg_snapshot)
  )`;

const current = `${server} || '/' || pg_current_snapshot()::text`;

// index: authentication_leases_pkey
const renew = `
  update authentication_leases set
    renewal = renewal + case when ${changedSince("$2")} then 0 else 1 end,
    acknowledged = split_part($2, '/', 2)::pg_snapshot
  where holder = $1 and split_part($2, '/', 1) = ${server}
  returning lease_ms as "leaseMs", ${current} as position, ${changedSince("$2")} as changed`;

// index: none, the table of changes is small
const look = `select ${current} as position, ${changedSince("$1")} as changed`;

// index: none, the table of changes is small
const changesMark = `
  select coalesce(string_agg(xid::text, ' ' order by xid), '') as mark from authentication_changes`;

// index: none, the tables contain only one row for each process, recent change or database server
const unacknowledged = `
  with looked as (select coalesce($1, pg_current_snapshot()::text)::pg_snapshot as at)
  select at::text as snapshot, ${server} as database,
    exists (select from authentication_databases d where d.id = ${server}) as known,
    exists (select from authentication_changes) as changes,
    (
      select coalesce(json_agg(json_build_object(
        'holder', l.holder, 'renewal', l.renewal, 'leaseMs', l.lease_ms)), '[]')
      from authentication_leases l where exists (
        select from authentication_changes c
        where pg_visible_in_snapshot(c.xid, at) and not pg_visible_in_snapshot(c.xid, l.acknowledged)
      )
    ) as leases
  from looked`;

/** Leases, and the changes that their holders acknowledge. Each statement runs outside any transaction. */
const leases = (database: Database) => ({
  /** Grants a lease to a new holder and returns the position of the lease; undefined if the holder is not new. */
  async grant(holder: string, leaseMs: number): Promise<string | undefined> {
    const [row] = await database.query<Position>(grant, [holder, leaseMs]);
    return row?.position;
  },

  /**
   * Acknowledges all changes before the position, and extends the lease unless something has changed after the
   * position. Returns undefined if the lease has ended, or if the position is one of another database server.
   */
  async renew(
    holder: string,
    position: string,
  ): Promise<(Progress & { leaseMs: number }) | undefined> {
    const [row] = await database.query<Progress & { leaseMs: number }>(renew, [holder, position]);
    return row;
  },

  async look(position: string): Promise<Progress> {
    const [row] = await database.query<Progress>(look, [position]);
    return row ?? { position, changed: true };
  },

  /** Returns a text that is different after each change. */
  async changesMark(): Promise<string> {
    const [row] = await database.query<{ mark: string }>(changesMark);
    return row?.mark ?? "";
  },

  /** Returns the leases that have not acknowledged all changes in `snapshot`. Default: the current snapshot. */
  async unacknowledged(snapshot?: string): Promise<UnacknowledgedChanges> {
    const [row] = await database.query<UnacknowledgedChanges>(unacknowledged, [snapshot ?? null]);
    if (!row) throw new Error("the database returned no row");
    return row;
  },

  list: (): Promise<(HeldLease & { database: string })[]> =>
    // index: none, one row for each process
    database.query(
      `select holder, renewal, lease_ms as "leaseMs", ${server} as database
       from authentication_leases`,
    ),

  /** Deletes a lease unless it was renewed since it was read. Returns whether it was deleted. */
  async end({ holder, renewal }: HeldLease): Promise<boolean> {
    const ended = await database.query(
      // index: authentication_leases_pkey
      "delete from authentication_leases where holder = $1 and renewal = $2 returning holder",
      [holder, renewal],
    );
    return ended.length > 0;
  },

  async giveBack(holder: string): Promise<void> {
    // index: authentication_leases_pkey
    await database.query("delete from authentication_leases where holder = $1", [holder]);
  },

  /** Deletes the changes in `snapshot`, which all leases have acknowledged. */
  async removeChanges(snapshot: string): Promise<void> {
    await database.query(
      // index: authentication_changes_pkey
      `delete from authentication_changes where xid in (
         select xid from authentication_changes
         where pg_visible_in_snapshot(xid, $1::pg_snapshot) for update skip locked)`,
      [snapshot],
    );
  },

  /** Records for the database server `id` that the table of leases now contains every lease that has not ended. */
  async know(id: string): Promise<void> {
    // index: authentication_databases_pkey
    await database.query(
      "insert into authentication_databases values ($1) on conflict do nothing",
      [id],
    );
  },
});

export const authenticationLeases = { leases };

export type AuthenticationLeaseStore = ReturnType<typeof leases>;
