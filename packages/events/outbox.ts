import { randomUUID } from "node:crypto";
import { type DescMessage, type MessageShape, toJsonString } from "@bufbuild/protobuf";
import { afterCommit, type EntityManager, queryIn, type SqlMigration } from "@statehouse/postgres";
import { traceparent } from "@statehouse/runtime";
import { eventType } from "./event.ts";

/** A service puts this among its own migrations. */
export const outboxMigration: SqlMigration = {
  name: "0000_outbox",
  up: `create table outbox (
    id bigint generated always as identity primary key,
    event_id text not null,
    type text not null,
    subject text not null,
    revision bigint not null,
    message text not null,
    traceparent text,
    recorded_at timestamptz not null default clock_timestamp()
  )`,
};

export interface RecordedEvent<Schema extends DescMessage> {
  schema: Schema;
  message: MessageShape<Schema>;
  /** The id of what changed. */
  subject: string;
  /** Of the row that changed. */
  revision: number | bigint;
}

/**
 * NATS takes 1 MiB at once, headers included. An event beyond would stay in the outbox for ever, and all after it;
 * it is the writer that must not let one grow so large.
 */
const MAX_MESSAGE_BYTES = 512 * 1024;

type Wake = () => void;
type OrmConfig = EntityManager["config"];
const relays = new WeakMap<OrmConfig, Set<Wake>>();

/**
 * Adds an event to the outbox in the transaction of `em`. Call it after locking the row it speaks
 * of: only then do ids follow the order of that row's changes. Throws when it is too large to be published.
 */
export async function recordEvent<Schema extends DescMessage>(
  em: EntityManager,
  { schema, message, subject, revision }: RecordedEvent<Schema>,
): Promise<void> {
  const text = toJsonString(schema, message);
  if (Buffer.byteLength(text) > MAX_MESSAGE_BYTES) {
    throw new Error(`${eventType(schema)} would have more than ${MAX_MESSAGE_BYTES} bytes`);
  }
  await queryIn(
    em,
    `insert into outbox (event_id, type, subject, revision, message, traceparent)
     values ($1, $2, $3, $4, $5, $6)`,
    [randomUUID(), eventType(schema), subject, String(revision), text, traceparent() ?? null],
  );
  const wakes = relays.get(em.config);
  if (!wakes) return;
  afterCommit(em, () => {
    for (const wake of wakes) wake();
  });
}

/** The relay of this process that a commit on this ORM wakes. */
export function wakeAfterCommits(config: OrmConfig, wake: Wake): Disposable {
  const wakes = relays.get(config) ?? new Set();
  relays.set(config, wakes.add(wake));
  return { [Symbol.dispose]: () => void wakes.delete(wake) };
}
