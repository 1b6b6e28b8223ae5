import type { Database, SqlMigration } from "@statehouse/postgres";
import { withServerSpan } from "@statehouse/runtime";
import type { Event } from "./event.ts";
import type { EventHandlers, FailedEvent } from "./subscribe.ts";

/** A consuming service adds this to its own migrations. */
export const parkedEventsMigration: SqlMigration = {
  name: "0000_parked_events",
  up: `create table parked_events (
    consumer text not null,
    event_id text not null,
    type text not null,
    source text not null,
    subject text not null,
    revision bigint not null,
    message text not null,
    traceparent text,
    time timestamptz not null,
    failures integer not null,
    error text not null,
    parked_at timestamptz not null default now(),
    primary key (consumer, event_id)
  )`,
};

interface ParkedRow {
  event_id: string;
  type: string;
  source: string;
  subject: string;
  revision: number;
  message: string;
  traceparent: string | null;
  time: Date;
}

/** Stores an event that could not be processed, until it is replayed. */
export async function parkEvent(
  database: Database,
  { event, consumer, failures, error }: FailedEvent,
): Promise<void> {
  await database.query(
    `insert into parked_events
       (consumer, event_id, type, source, subject, revision, message, traceparent, time, failures, error)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (consumer, event_id) do update set failures = excluded.failures, error = excluded.error`,
    [
      consumer,
      event.id,
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

export interface ReplayOptions {
  database: Database;
  consumer: string;
  handlers: EventHandlers;
}

/** The result of replaying a consumer's dead letters. */
export interface Replay {
  replayed: number;
  /** The events that still fail. */
  failures: { eventId: string; type: string; subject: string; error: string }[];
}

/** Processes the dead letters of `consumer` again, oldest first; successful ones are deleted. */
export async function replayParked({
  database,
  consumer,
  handlers,
}: ReplayOptions): Promise<Replay> {
  const rows = await database.query<ParkedRow>(
    `select event_id, type, source, subject, revision, message, traceparent, time
     from parked_events where consumer = $1 order by time, event_id`,
    [consumer],
  );
  const failures: Replay["failures"] = [];
  for (const row of rows) {
    try {
      const handle = handlers[row.type];
      if (!handle) throw new Error("nothing handles this type any more");
      const parent = row.traceparent ?? undefined;
      await withServerSpan(`replay ${row.type}`, parent, {}, () => handle(eventOf(row)));
      await database.query("delete from parked_events where consumer = $1 and event_id = $2", [
        consumer,
        row.event_id,
      ]);
    } catch (thrown) {
      const error = describe(thrown);
      failures.push({ eventId: row.event_id, type: row.type, subject: row.subject, error });
      await database.query(
        `update parked_events set failures = failures + 1, error = $3
         where consumer = $1 and event_id = $2`,
        [consumer, row.event_id, error],
      );
    }
  }
  return { replayed: rows.length - failures.length, failures };
}

function eventOf(row: ParkedRow): Event {
  const { event_id, message, traceparent, ...same } = row;
  return { ...same, id: event_id, json: message, traceparent: traceparent ?? undefined };
}

function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.slice(0, 1000);
}
