import { randomUUID } from "node:crypto";
import { create, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import {
  afterCommit,
  type EntityManager,
  type InsertAtCommit,
  insertAtCommit,
} from "@statehouse/postgres";
import { currentActor, traceparent } from "@statehouse/runtime";
import { authContextOf } from "./auth-context.ts";
import { eventType } from "./event.ts";
import { changedIn, type Published } from "./published.ts";

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

/** The values of an event from which its audit record is made. */
export interface EventFacts {
  /** `statehouse.<service>.<noun>.<verb>.v1` */
  type: string;
  /** The id of the changed object. */
  subject: string;
  organizationId: string | undefined;
  changedAttributes: readonly string[];
}

const organizationOf = (fields: object): string | undefined =>
  "organizationId" in fields && typeof fields.organizationId === "string"
    ? fields.organizationId
    : undefined;

/**
 * Adds an event to the outbox, with the current actor, when the transaction of `em` commits. Lock the changed row in
 * the same transaction; otherwise the ids of the row's events might not follow the order of its changes. `alsoRecord`
 * records further values of the event in the same transaction, for example an audit record. Throws if the event is too
 * large to publish.
 */
export async function recordEvent(
  em: EntityManager,
  { schema, subject, fields, changed: [row, attributeNames] }: Published,
  alsoRecord?: (facts: EventFacts) => void,
): Promise<void> {
  const type = eventType(schema);
  const changedAttributes = row && changedIn(em, row, attributeNames);
  const init = { ...fields, ...(changedAttributes && { changedAttributes }) };
  const text = toJsonString(schema, create(schema, init as MessageInitShape<typeof schema>));
  alsoRecord?.({
    type,
    subject,
    organizationId: organizationOf(fields),
    changedAttributes: changedAttributes ?? [],
  });
  if (Buffer.byteLength(text) > MAX_MESSAGE_BYTES) {
    throw new Error(`the message of ${type} would have more than ${MAX_MESSAGE_BYTES} bytes`);
  }
  // If there is no current actor, the actor is the service, whose name is the context name of the database.
  const auth = authContextOf(
    currentActor() ?? { type: "service", id: em.config.get("contextName") },
  );
  insertAtCommit(em, insertEvents, {
    event_id: randomUUID(),
    type,
    subject,
    revision: String(fields.revision),
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
