import { MICROS, type Micros, microsOf, timestampOf } from "@statehouse/audit/time";
import {
  type AuditRecord,
  AuditTrailService,
} from "@statehouse/proto/statehouse/audit/v1/audit_record";
import type { Caller } from "../http/authentication.ts";
import type { Channels, ClientFactory } from "../http/clients.ts";
import type { Page } from "../jsonapi/pagination.ts";

const services: readonly (keyof Channels)[] = ["access", "workspaces", "state"];

const HOUR = 3600;
/** The largest page that a service returns. */
const MAX_PAGE = 1000;

/** Orders records by time and then by the bytes of their ids, which is the order that the services use. */
const inOrder = (one: AuditRecord, other: AuditRecord): number =>
  microsOf(one.recordedAt) - microsOf(other.recordedAt) || (one.id < other.id ? -1 : 1);

interface Span {
  organizationId: string;
  /** The span includes records at this time, but not records at `until`. */
  since: Micros;
  until: Micros;
}

interface Interval {
  start: Micros;
  count: number;
}

export interface AuditTrailRequest {
  client: ClientFactory;
  caller: Caller;
  /** Empty means the organization that the token belongs to. */
  organizationId: string;
  /** Only records after this time are read. */
  after: Micros;
  page: Page;
}

export interface AuditTrailPage {
  records: AuditRecord[];
  totalCount: number;
}

/**
 * Reads a page of an organization's audit trail: the records of all services in the order of their times. The list ends
 * at the time up to which the records of all services are complete. Records that are added later therefore come after
 * all records of the list, which stay on their pages.
 */
export async function readAuditTrail({
  client,
  caller,
  organizationId: requested,
  after,
  page,
}: AuditTrailRequest): Promise<AuditTrailPage> {
  const begun = await Promise.all(
    services.map((name) =>
      client(AuditTrailService, name).beginReading({ organizationId: requested }, caller),
    ),
  );
  const organizationId = begun[0]?.organizationId ?? "";
  const until = Math.min(...begun.map(({ completeUntil }) => microsOf(completeUntil)));
  const span = { organizationId, since: after + 1, until };
  const read = { client, caller };
  const hours = await countedIntervals(read, span, HOUR);
  const totalCount = hours.reduce((sum, { count }) => sum + count, 0);
  const offset = (page.pageNumber - 1) * page.pageSize;
  if (offset >= totalCount) return { records: [], totalCount };
  const hour = placeOf(hours, offset);
  const rest = { ...span, since: Math.max(span.since, hour.start) };
  const seconds = await countedIntervals(
    read,
    { ...rest, until: Math.min(until, hour.start + HOUR * MICROS) },
    1,
  );
  const second = placeOf(seconds, hour.offset);
  const from = { ...rest, since: Math.max(span.since, second.start) };
  const maxRecords = second.offset + page.pageSize;
  const lists = await Promise.all(
    services.map((name) => firstRecords(read, name, from, maxRecords)),
  );
  return { records: lists.flat().toSorted(inOrder).slice(second.offset, maxRecords), totalCount };
}

/**
 * Returns the start of the interval that contains the record at `offset` in the list of all intervals' records, and
 * that record's offset within the interval.
 */
function placeOf(
  intervals: readonly Interval[],
  offset: number,
): { start: number; offset: number } {
  let before = 0;
  for (const { start, count } of intervals) {
    if (offset < before + count) return { start, offset: offset - before };
    before += count;
  }
  return { start: Number.MAX_SAFE_INTEGER, offset: 0 };
}

type Reader = Pick<AuditTrailRequest, "client" | "caller">;

const requestOf = ({ organizationId, since, until }: Span) => ({
  organizationId,
  since: timestampOf(since),
  until: timestampOf(until),
});

/**
 * Divides the span into intervals of `intervalSeconds`. Returns those that contain records, in chronological order,
 * each with the number of its records in all services together.
 */
async function countedIntervals(
  { client, caller }: Reader,
  span: Span,
  intervalSeconds: number,
): Promise<Interval[]> {
  const request = { ...requestOf(span), intervalSeconds };
  const counts = new Map<number, number>();
  const answers = await Promise.all(
    services.map((name) => client(AuditTrailService, name).countAuditRecords(request, caller)),
  );
  for (const { start, count } of answers.flatMap(({ intervals }) => intervals)) {
    const at = microsOf(start);
    counts.set(at, count + (counts.get(at) ?? 0));
  }
  return [...counts]
    .map(([start, count]) => ({ start, count }))
    .toSorted((one, other) => one.start - other.start);
}

/** Returns the first records, at most `maxRecords`, that one service has in a span of time. */
async function firstRecords(
  { client, caller }: Reader,
  name: keyof Channels,
  span: Span,
  maxRecords: number,
): Promise<AuditRecord[]> {
  const found: AuditRecord[] = [];
  for (let more = true; more && found.length < maxRecords; ) {
    const limit = Math.min(maxRecords - found.length, MAX_PAGE);
    const request = { ...requestOf(span), limit, offset: found.length };
    const { records } = await client(AuditTrailService, name).listAuditRecords(request, caller);
    found.push(...records);
    more = records.length === limit;
  }
  return found;
}
