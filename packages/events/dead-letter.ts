import { createHash } from "node:crypto";
import type { Database } from "@statehouse/postgres";
import { scrapedGauge, withServerSpan } from "@statehouse/runtime";
import { type Event, organizationIn } from "./event.ts";
import { type Projection, projectionOf } from "./projection.ts";
import type { FailedEvent } from "./receive.ts";

/** The number of milliseconds for which a count is reused before dead letters are counted again. */
const COUNT_MS = 5000;

interface DeadLetterRow extends Omit<Event, "organizationId" | "traceparent" | "auth"> {
  traceparent: string | null;
}

/** Stores an event that could not be processed; it stays stored until a replay succeeds. */
export async function storeDeadLetter(
  database: Database,
  { event, consumer, failures, error }: FailedEvent,
): Promise<void> {
  await database.query(
    `insert into dead_letters
       (consumer, event_id, type, source, subject, revision, message, traceparent, time, failures, error)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (consumer, event_id) do update set failures = excluded.failures, error = excluded.error`,
    [
      consumer,
      identifierOf(event.id),
      event.type,
      event.source,
      event.subject,
      event.revision,
      event.json,
      event.traceparent ?? null,
      event.time,
      failures,
      describe(error),
    ],
  );
}

/**
 * The maximum length of an id that is stored unchanged. A longer id is replaced by its digest, because a very long id
 * does not fit into the index of the table. Ids that Statehouse assigns have 36 characters.
 */
const MAX_ID_LENGTH = 200;

const identifierOf = (id: string): string =>
  id.length <= MAX_ID_LENGTH ? id : `sha256-${createHash("sha256").update(id).digest("hex")}`;

/** Exposes the number of stored dead letters of a service to Prometheus. */
export const observeDeadLetters = (database: Database, service: string): AsyncDisposable =>
  scrapedGauge("statehouse/events", {
    name: "statehouse_dead_letters",
    description: "Events that could not be processed and are stored until they are replayed",
    attributes: { service },
    maxAgeMs: COUNT_MS,
    async read() {
      const [row] = await database.query<{ count: number }>(
        "select count(*) as count from dead_letters",
      );
      return row?.count;
    },
  });

interface ConsumerReplay {
  database: Database;
  consumer: string;
  projections: readonly Projection[];
}

/** The result of replaying a consumer's dead letters. */
export interface Replay {
  replayed: number;
  /** The events that still fail. */
  failures: { eventId: string; type: string; subject: string; error: string }[];
}

/**
 * Processes the dead letters of `consumer` again, oldest first, and deletes each one that is processed without error.
 */
export async function replayConsumer({
  database,
  consumer,
  projections,
}: ConsumerReplay): Promise<Replay> {
  const rows = await database.query<DeadLetterRow>(
    `select event_id as id, type, source, subject, revision, message as json, traceparent, time
     from dead_letters where consumer = $1 order by time, event_id`,
    [consumer],
  );
  const failures: Replay["failures"] = [];
  for (const row of rows) {
    try {
      const projection = projectionOf(projections, row.type);
      if (!projection) throw new Error("no handler for the type of this event");
      const id = projection.hints[row.type]?.(eventOf(row));
      const parent = row.traceparent ?? undefined;
      if (id !== undefined) {
        await withServerSpan(`replay ${row.type}`, parent, {}, () => projection.refresh([id]));
      }
      await database.query("delete from dead_letters where consumer = $1 and event_id = $2", [
        consumer,
        row.id,
      ]);
    } catch (thrown) {
      const error = describe(thrown);
      failures.push({ eventId: row.id, type: row.type, subject: row.subject, error });
      await database.query(
        `update dead_letters set failures = failures + 1, error = $3
         where consumer = $1 and event_id = $2`,
        [consumer, row.id, error],
      );
    }
  }
  return { replayed: rows.length - failures.length, failures };
}

const eventOf = (row: DeadLetterRow): Event => ({
  ...row,
  organizationId: organizationIn(row.json),
  traceparent: row.traceparent ?? undefined,
  auth: undefined,
});

function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  // NUL is replaced, because PostgreSQL cannot store it and the error message can contain parts of the event.
  return text.slice(0, 1000).replaceAll("\0", "\u{FFFD}");
}
