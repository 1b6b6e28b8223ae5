import type { Database } from "@statehouse/postgres";
import type { ChainedRecord } from "./record-digest.ts";
import { recordColumns } from "./stored-chain.ts";
import type { Micros } from "./time.ts";

/** A period of the audit trail of one organization, or of the records that belong to no organization. */
export interface Span {
  /** The organization's id, or `_` for the records that belong to no organization. */
  organization: string;
  /** The first time of the period. */
  since: Micros;
  /** The first time after the period. */
  until: Micros;
}

/** A record in the form that readers receive. */
export interface TrailRecord extends Omit<ChainedRecord, "recordedAt" | "addressDigest"> {
  recordedAt: Micros;
  address: string | null;
}

/** The maximum number of records on a page, which one statement reads. */
export const MAX_PAGE = 1000;

/** SQL expression that converts a timestamp to microseconds since 1970. */
const micros = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint`;
/** SQL expression that converts a parameter, in microseconds since 1970, to a timestamp. */
const timestamp = (parameter: string) =>
  `(to_timestamp(0) + ${parameter}::bigint * interval '1 microsecond')`;

const within = `organization = $1 and recorded_at >= ${timestamp("$2")} and recorded_at < ${timestamp("$3")}`;

/**
 * Selects the time before which no record will be added. A record's time is after the start of its transaction. The
 * result is therefore the start of the oldest transaction that has changed something or can still do so. Transactions
 * last at most a minute, so one that began more than two minutes ago and has changed nothing is ignored.
 */
const completeUntil = `
  select ${micros("least(clock_timestamp(), min(xact_start))")} as until
  from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend'
    and pid <> pg_backend_pid()
    and (backend_xid is not null or xact_start > clock_timestamp() - interval '2 minutes')`;

/** Selects the number of records in each interval of $4 seconds. Intervals without records are absent. */
const counts = `
  -- index: audit_records_pkey
  select (floor(extract(epoch from recorded_at) / $4) * $4)::bigint as start, count(*)::int as count
  from audit_records where ${within} group by 1 order by 1`;

/**
 * Selects a page of records. Ids are compared by bytes, because merging the records of several services requires this
 * order.
 */
const list = `
  -- index: audit_records_pkey
  select ${micros("recorded_at")} as "recordedAt", address, ${recordColumns}
  from audit_records where ${within}
  order by recorded_at, id collate "C" limit $4 offset $5`;

/** Reads the audit records of one service. */
export const createTrail = ({ query }: Pick<Database, "query">) => ({
  /** Returns the time before which no record will be added. */
  async completeUntil(): Promise<Micros> {
    const [row] = await query<{ until: Micros }>(completeUntil);
    return row?.until ?? 0;
  },

  /** Returns the number of records in each interval, and the start of the interval in seconds since 1970. */
  counts: ({ organization, since, until }: Span, intervalSeconds: number) =>
    query<{ start: number; count: number }>(counts, [organization, since, until, intervalSeconds]),

  /** Returns records in the order of their times and ids. */
  list: ({ organization, since, until }: Span, { limit = MAX_PAGE, offset = 0 } = {}) =>
    query<TrailRecord>(list, [organization, since, until, Math.min(limit, MAX_PAGE), offset]),
});

export type Trail = ReturnType<typeof createTrail>;

/** Yields the records of a span in the order of their times and ids. Keeps one page in memory at a time. */
export async function* trailRecords(trail: Trail, span: Span): AsyncGenerator<TrailRecord> {
  let { since } = span;
  let offset = 0;
  for (;;) {
    const page = await trail.list({ ...span, since }, { offset });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < MAX_PAGE) return;
    const atLast = page.filter(({ recordedAt }) => recordedAt === last.recordedAt).length;
    offset = last.recordedAt === since ? offset + page.length : atLast;
    since = last.recordedAt;
  }
}
