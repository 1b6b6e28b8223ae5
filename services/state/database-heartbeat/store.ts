import { type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import type { DatabaseHeartbeat, DatabaseInterruption } from "../blob-deletion/domain.ts";

// SQL: the identity of the database. A restore from a dump gives the database a new oid; a recovery of the cluster
// gives it a new timeline.
const identity = `select concat_ws('/', (select system_identifier from pg_control_system()),
    (select oid from pg_database where datname = current_database()),
    left(pg_walfile_name(pg_current_wal_lsn()), 8)) as database`;

const selectHeartbeat = `select database, beat_at as "beatAt" from database_heartbeats`;

const selects = (query: <Row>(sql: string) => Promise<Row[]>) => ({
  async getIdentity(): Promise<string> {
    const [row] = await query<{ database: string }>(identity);
    return row?.database ?? "";
  },

  listInterruptions: (): Promise<DatabaseInterruption[]> =>
    query("select since, until from database_interruptions"),
});

const rows = (em: EntityManager) => ({
  ...selects((sql) => queryIn(em, sql)),

  /** Locks the latest heartbeat and returns it; undefined if no heartbeat was ever recorded. */
  async findForUpdate(): Promise<DatabaseHeartbeat | undefined> {
    const [row] = await queryIn<DatabaseHeartbeat>(em, `${selectHeartbeat} for update`);
    return row;
  },

  async put({ database, beatAt }: DatabaseHeartbeat): Promise<void> {
    await queryIn(
      em,
      `insert into database_heartbeats (database, beat_at) values ($1, $2)
       on conflict (only_row) do update set database = $1,
         beat_at = greatest(database_heartbeats.beat_at, $2)`,
      [database, beatAt],
    );
  },

  async addInterruption({ since, until }: DatabaseInterruption): Promise<void> {
    await queryIn(
      em,
      `insert into database_interruptions (since, until) values ($1, $2)
       on conflict (until) do update set since = least(database_interruptions.since, $1)`,
      [since, until],
    );
  },

  async removeInterruptionsBefore(until: Date): Promise<void> {
    await queryIn(em, "delete from database_interruptions where until < $1", [until]);
  },
});

const reads = (database: Database) => ({
  ...selects((sql) => database.query(sql)),

  async find(): Promise<DatabaseHeartbeat | undefined> {
    const [row] = await database.query<DatabaseHeartbeat>(selectHeartbeat);
    return row;
  },
});

export const databaseHeartbeats = { rows, reads };

export type DatabaseHeartbeatReads = ReturnType<typeof reads>;
