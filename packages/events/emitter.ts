/**
 * Events for the tests of a subscriber, without Statehouse and NATS: `import { createEmitter } from
 * "@statehouse/events/emitter"`.
 */
import { randomUUID } from "node:crypto";
import {
  create,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
  toJsonString,
} from "@bufbuild/protobuf";
import {
  type AuthContext,
  type Event,
  eventFrom,
  eventType,
  headersOf,
  organizationIn,
  subjectOf,
} from "./event.ts";
import type { EventHandlers } from "./subscribe.ts";

/** Values of an event that replace the emitter's defaults. */
export interface EventDetails {
  /** Default: higher than the revision of every earlier event. */
  revision?: bigint;
  /** The id of the changed object. Default: the first field of the message. */
  subject?: string;
  time?: Date;
  auth?: AuthContext;
}

export interface Emitter {
  /**
   * Calls the handler for the message's type with an event in the form in which Statehouse publishes it, and returns
   * the event. Throws the handler's error, or an error if there is no handler.
   */
  emit<Schema extends DescMessage>(
    schema: Schema,
    fields: MessageInitShape<Schema>,
    details?: EventDetails,
  ): Promise<Event>;
  /**
   * Calls the handler again with an earlier event. This simulates a repeated delivery, or a delivery after a newer
   * event.
   */
  deliver(event: Event): Promise<void>;
}

/** Creates an emitter for the handlers that `subscribe` receives. */
export function createEmitter(handlers: EventHandlers): Emitter {
  let last = 0n;

  const deliver = async (event: Event): Promise<void> => {
    const handle = handlers[event.type];
    if (!handle) throw new Error(`There is no handler for ${event.type}.`);
    await handle(event);
  };

  return {
    async emit(schema, fields, { revision = last + 1n, auth, ...details } = {}) {
      last = revision > last ? revision : last;
      const message = withRevision(schema, create(schema, fields), revision);
      const type = eventType(schema);
      const json = toJsonString(schema, message);
      const organizationId = organizationIn(json);
      const time = details.time ?? new Date();
      const event = {
        ...{ id: randomUUID(), type, organizationId, time, json, traceparent: undefined },
        source: `urn:statehouse:default/${type.split(".")[1]}`,
        subject: details.subject ?? firstField(schema, message),
        revision: Number(revision),
        auth: auth ?? { type: "user", id: "user-emitted" },
      };
      // Converts the event to headers and back, so that the handler receives the event exactly as NATS would deliver
      // it.
      const received = eventFrom({
        ...{ headers: headersOf(event), subject: subjectOf(event), time },
        string: () => json,
      });
      await deliver(received);
      return received;
    },
    deliver,
  };
}

function firstField<Schema extends DescMessage>(
  schema: Schema,
  message: MessageShape<Schema>,
): string {
  const [field] = schema.fields;
  return field ? String(Reflect.get(message, field.localName)) : "";
}

function withRevision<Schema extends DescMessage>(
  schema: Schema,
  message: MessageShape<Schema>,
  revision: bigint,
): MessageShape<Schema> {
  const field = schema.fields.find(({ name }) => name === "revision");
  if (field) Reflect.set(message, field.localName, revision);
  return message;
}
