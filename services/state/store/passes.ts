import type { Database } from "@statehouse/postgres";

export type PassName = "retention" | "verification";

/** What a pass has done since it began. */
export interface PassTally {
  seen: number;
  found: number;
  bytes: number;
}

export interface PassProgress extends PassTally {
  /** When the last whole pass ended. */
  finishedAt: Date | null;
}

/** A part of a pass, the holder's until its lease is over. */
export interface PassClaim {
  name: PassName;
  holder: string;
  /** The id that the part before ended with. */
  after: string;
}

/** Passes over everything, a part at a time, whichever replica is awake; one that died is taken over. */
export interface Passes {
  /** Undefined while nothing is due, or another holds it. */
  claim(
    name: PassName,
    lease: { holder: string; now: Date; until: Date },
  ): Promise<PassClaim | undefined>;
  /** False once another has taken it over. */
  renew(claim: PassClaim, until: Date): Promise<boolean>;
  /** Lets go of it, where it stands. */
  release(claim: PassClaim, dueAt: Date): Promise<void>;
  /** Goes on after an id. */
  advance(claim: PassClaim, to: { after: string; dueAt: Date }, done: PassTally): Promise<void>;
  /** Ends the pass; the next one is due then. */
  finish(claim: PassClaim, to: { now: Date; dueAt: Date }, done: PassTally): Promise<void>;
  progress(name: PassName): Promise<PassProgress>;
}

export const createPasses = (database: Database): Passes => ({
  async claim(name, { holder, now, until }) {
    const [row] = await database.query<{ after: string }>(
      `update pass set holder = $2, due_at = $4,
         started_at = case when after = '' then $3 else started_at end,
         seen = case when after = '' then 0 else seen end,
         found = case when after = '' then 0 else found end,
         bytes = case when after = '' then 0 else bytes end
       where name = $1 and due_at <= $3 returning after`,
      [name, holder, now, until],
    );
    return row && { name, holder, after: row.after };
  },
  async renew({ name, holder }, until) {
    const rows = await database.query(
      "update pass set due_at = $3 where name = $1 and holder = $2 returning name",
      [name, holder, until],
    );
    return rows.length > 0;
  },
  async release({ name, holder }, dueAt) {
    await database.query(
      "update pass set holder = null, due_at = $3 where name = $1 and holder = $2",
      [name, holder, dueAt],
    );
  },
  async advance({ name, holder }, { after, dueAt }, { seen, found, bytes }) {
    await database.query(
      `update pass set after = $3, due_at = $4, seen = seen + $5, found = found + $6,
         bytes = bytes + $7 where name = $1 and holder = $2`,
      [name, holder, after, dueAt, seen, found, bytes],
    );
  },
  async finish({ name, holder }, { now, dueAt }, { seen, found, bytes }) {
    await database.query(
      `update pass set after = '', holder = null, due_at = $4, finished_at = $3, seen = seen + $5,
         found = found + $6, bytes = bytes + $7 where name = $1 and holder = $2`,
      [name, holder, now, dueAt, seen, found, bytes],
    );
  },
  async progress(name) {
    const [row] = await database.query<PassTally & { finished_at: Date | null }>(
      "select seen, found, bytes, finished_at from pass where name = $1",
      [name],
    );
    if (!row) throw new Error(`the row of the pass ${name} is missing`);
    const { seen, found, bytes } = row;
    return { seen, found, bytes, finishedAt: row.finished_at };
  },
});
