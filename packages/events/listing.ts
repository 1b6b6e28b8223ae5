import { create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { badRequest } from "@statehouse/errors";
import type { Database } from "@statehouse/postgres";
import { attributesOf, eventType, matches, organizationIn, reaches, subjectOf } from "./event.ts";
import type { Published } from "./published.ts";

/** Columns that every row of a listing has. */
export interface ListedRow {
  /** The position of the row in the order of the listing. */
  key: string;
  /** The row contains every change whose event has this revision or a lower one. */
  revision: number;
  /** False if the row counts towards the size of the page, but its object is not listed. */
  isListed: boolean;
}

interface ListedEvents<Row> {
  /** The schemas of the events' messages, which declare the types of the events. */
  readonly schemas: readonly Published["schema"][];
  /**
   * Returns the events that describe the object of `row`, whose revision is a bigint. If there are several events, they
   * must set different fields, because all have the same revision.
   */
  readonly events: (row: Row) => readonly Published[];
}

/** The member `listed` of a noun's store, which lists the noun's objects as events with their current values. */
export interface ListedNoun extends ListedEvents<never> {
  /**
   * Selects, in the order of `key`, at most $3 rows whose key is greater than $1 and, if $2 is not null, whose
   * organization is $2. Objects of the installation have the organization `_`.
   */
  readonly select: string;
}

/** The parts of a statement that selects the rows of a listing, as SQL. */
interface ListedRows {
  /**
   * The table of the noun's objects, and the tables that are joined to it. The defaults of the other parts require that
   * the table has the alias `t`.
   */
  from: string;
  /** The columns that the events contain. */
  columns: string;
  /** The columns of an index of the table by which the listing is ordered. Their values never contain `/`. */
  key?: readonly string[];
  /** The id of the organization to which the row belongs. */
  organization?: string;
  revision?: string;
  /**
   * Whether the object of the row is listed. As a condition of `where` it could prevent PostgreSQL from reading a page
   * in the order of an index.
   */
  isListed?: string;
  /** Rows for which this condition is false are not selected. */
  where?: string;
}

/** Returns the member `listed` of a noun's store. `Row` has the columns that `events` reads. */
export function listed<Row extends object>({
  schemas,
  events,
  from,
  columns,
  key = ["t.id"],
  organization = "t.organization_id",
  revision = "t.revision",
  isListed = "true",
  where = "true",
}: ListedEvents<Row> & ListedRows): ListedNoun {
  const last = key.length === 1 ? ["$1"] : key.map((_, n) => `split_part($1, '/', ${n + 1})`);
  const select = `
    select ${key.join(" || '/' || ")} as key, ${columns}, ${revision} as revision,
      ${isListed} as "isListed"
    from ${from}
    where (${key.join(", ")}) > (${last.join(", ")})
      and ($2::text is null or ${organization} = $2) and ${where}
    order by ${key.join(", ")} limit $3`;
  return { schemas, select, events };
}

export interface ListingRequest {
  /** Only events whose subjects match all of these filters are listed. */
  filters: readonly string[];
  /** The `nextCursor` of the previous page; empty for the first page. */
  cursor: string;
  /** The maximum total size of the events. If the events of the first object are larger, the page has only these. */
  maxBytes: number;
}

export interface ListingPage {
  /** Events in the JSON format of CloudEvents 1.0. */
  events: string[];
  /** Empty if the page is the last one. */
  nextCursor: string;
}

/** The maximum number of objects on a page. */
const MAX_OBJECTS = 1000;

/** Lists the objects of a service. */
export type Listing = (request: ListingRequest) => Promise<ListingPage>;

export interface ListingSource {
  database: Database;
  /** The URI of the installation and the service, which is the source of the events. */
  source: string;
}

/** A noun of a service's store. A noun with events has the member `listed`; null means that its objects are not listed. */
type ListableNoun = object & { listed?: ListedNoun | null };

/**
 * Creates the listing of all nouns whose stores have the member `listed`. A subscriber reads the last position of the
 * stream, and then the listing. Every change that the listing does not contain is published after that position.
 */
export function createListing(
  nouns: Readonly<Record<string, ListableNoun>>,
  of: ListingSource,
): Listing {
  const all = Object.entries(nouns).flatMap(([name, { listed: noun }]) =>
    noun ? [{ name, noun }] : [],
  );
  return async ({ filters, cursor, maxBytes }) => {
    const organization = organizationOf(filters);
    if (organization === "none") return { events: [], nextCursor: "" };
    const { start, after } = positionOf(
      cursor,
      all.map(({ name }) => name),
    );
    const events: string[] = [];
    let bytes = 0;
    let remaining = MAX_OBJECTS;
    let position = after;
    for (const { name, noun } of all.slice(start)) {
      let last = position;
      position = "";
      if (!isReachable(noun, filters)) continue;
      const parameters = [last, organization ?? null, remaining];
      const rows = await of.database.query<ListedRow>(noun.select, parameters);
      const time = new Date().toISOString();
      for (const row of rows) {
        const described = eventsOf(noun, row, { filters, source: of.source, time });
        bytes += described.reduce((sum, event) => sum + Buffer.byteLength(event) + 1, 0);
        if (bytes > maxBytes && events.length > 0) return { events, nextCursor: `${name}/${last}` };
        events.push(...described);
        last = row.key;
      }
      remaining -= rows.length;
      if (remaining === 0) return { events, nextCursor: `${name}/${last}` };
    }
    return { events, nextCursor: "" };
  };
}

/** Returns the events that describe the object of `row` and match all filters, in the JSON format of CloudEvents. */
function eventsOf(
  noun: ListedNoun,
  row: ListedRow,
  { filters, source, time }: { filters: readonly string[]; source: string; time: string },
): string[] {
  if (!row.isListed) return [];
  // Safe cast: the statement of the noun returned this row.
  return noun
    .events({ ...row, revision: BigInt(row.revision) } as never)
    .map((published) => structured(published, { source, time }))
    .filter(({ subject }) => filters.every((filter) => matches(filter, subject)))
    .map(({ json }) => json);
}

const isReachable = ({ schemas }: ListedNoun, filters: readonly string[]): boolean =>
  schemas.some((schema) => filters.every((filter) => reaches(filter, eventType(schema))));

/** The number of parts of a subject. The last part is the organization. */
const SUBJECT_PARTS = 6;

/**
 * Returns the organization that the filters name, undefined if they name none, and `none` if they name several: no
 * event then matches all filters.
 */
function organizationOf(filters: readonly string[]): string | "none" | undefined {
  const parts = filters.map((filter) => filter.split("."));
  const named = parts
    .filter((part) => part.length === SUBJECT_PARTS)
    .map((part) => part[SUBJECT_PARTS - 1] ?? "")
    .filter((part) => part !== "*" && part !== ">");
  const [first, ...others] = new Set(named);
  return others.length > 0 ? "none" : first;
}

function positionOf(cursor: string, names: readonly string[]): { start: number; after: string } {
  if (cursor === "") return { start: 0, after: "" };
  const end = cursor.indexOf("/");
  const start = names.indexOf(cursor.slice(0, end));
  // PostgreSQL accepts no text with the character NUL.
  if (start < 0 || cursor.includes("\0"))
    throw badRequest("cursor", "Cursor is invalid; begin the listing again.");
  return { start, after: cursor.slice(end + 1) };
}

interface Context {
  source: string;
  time: string;
}

/** Returns the event in the JSON format of CloudEvents, with its subject on the bus. */
function structured(
  { schema, subject, fields }: Published,
  { source, time }: Context,
): { json: string; subject: string } {
  const type = eventType(schema);
  const revision = Number(fields.revision);
  const data = toJson(schema, create(schema, fields as MessageInitShape<typeof schema>));
  const organizationId = organizationIn(JSON.stringify(data));
  const attributes = attributesOf({
    id: `listed:${type}:${subject}:${revision}`,
    ...{ type, source, subject, revision, time: new Date(time) },
    ...{ traceparent: undefined, auth: undefined },
  });
  return {
    json: JSON.stringify({
      ...attributes,
      ...(organizationId && { organization: organizationId }),
      data,
    }),
    subject: subjectOf({ type, organizationId }),
  };
}
