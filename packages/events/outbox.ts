import { randomUUID } from "node:crypto";
import { type DescMessage, type MessageShape, toJsonString } from "@bufbuild/protobuf";
import {
  afterCommit,
  type EntityManager,
  type InsertAtCommit,
  insertAtCommit,
} from "@statehouse/postgres";
import { currentActor, traceparent } from "@statehouse/runtime";
import { authContextOf } from "./auth-context.ts";
import { eventType } from "./event.ts";

export interface RecordedEvent<Schema extends DescMessage> {
  schema: Schema;
  message: MessageShape<Schema>;
  /** The id of the changed object. */
  subject: string;
  /** Revision of the changed row. */
  revision: number | bigint;
}

/** Inserts events. Their ids follow the order of the array. */
const insertEvents: InsertAtCommit = (rows) =>
  `insert into outbox (event_id, type, subject, revision, message, traceparent, auth_type, auth_id)
   select * from jsonb_to_recordset(${rows}::jsonb) as r (event_id text, type text, subject text,
     revision bigint, message text, traceparent text, auth_type text, auth_id text)`;

/**
 * The maximum size of an event's message in bytes. NATS accepts 1 MiB per message, including headers. An event that
 * NATS does not accept would stay in the outbox permanently and block all later events.
 */
const MAX_MESSAGE_BYTES = 512 * 1024;

type Wake = () => void;
type OrmConfig = EntityManager["config"];
const relays = new WeakMap<OrmConfig, Set<Wake>>();

/**
 * Adds an event to the outbox, with the current actor, when the transaction of `em` commits. Lock the changed row in
 * the same transaction; otherwise the ids of the row's events might not follow the order of its changes. Throws if the
 * event is too large to publish.
 */
export async function recordEvent<Schema extends DescMessage>(
  em: EntityManager,
  { schema, message, subject, revision }: RecordedEvent<Schema>,
): Promise<void> {
  const text = toJsonString(schema, message);
  if (Buffer.byteLength(text) > MAX_MESSAGE_BYTES) {
    throw new Error(
      `the message of ${eventType(schema)} would have more than ${MAX_MESSAGE_BYTES} bytes`,
    );
  }
  // If there is no current actor, the actor is the service, whose name is the context name of the database.
  const auth = authContextOf(
    currentActor() ?? { type: "service", id: em.config.get("contextName") },
  );
  insertAtCommit(em, insertEvents, {
    event_id: randomUUID(),
    type: eventType(schema),
    subject,
    revision: String(revision),
    message: text,
    traceparent: traceparent() ?? null,
    auth_type: auth.type,
    auth_id: auth.id,
  });
  const wakes = relays.get(em.config);
  if (!wakes) return;
  afterCommit(em, () => {
    for (const wake of wakes) wake();
  });
}

/** Calls `wake` after every commit that recorded an event through this ORM. */
export function wakeAfterCommits(config: OrmConfig, wake: Wake): Disposable {
  const wakes = relays.get(config) ?? new Set();
  relays.set(config, wakes.add(wake));
  return { [Symbol.dispose]: () => void wakes.delete(wake) };
}
