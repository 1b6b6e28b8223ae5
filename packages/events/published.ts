import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { EntityManager } from "@statehouse/postgres";
import { recordEvent } from "./outbox.ts";

/** The message of a published event. */
export interface Published {
  schema: DescMessage;
  /** Id of the changed row. */
  subject: string;
  /** Without the revision, which every event has. Never a secret. */
  fields: object;
}

/** An event of a service's domain. `revision` orders the events of one subject. */
interface DomainEvent {
  type: string;
  revision: bigint;
}

/** The member of a union of events that has this type. */
type EventOf<Event extends DomainEvent, Type extends Event["type"]> = Event extends DomainEvent
  ? Type extends Event["type"]
    ? Event
    : never
  : never;

/** The message of every event of a service, by the event's type. */
export type PublishedEvents<Event extends DomainEvent> = {
  [Type in Event["type"]]: (event: EventOf<Event, Type>) => Published;
};

/** An entry of the table, with its fields checked against the message. */
export const published = <Schema extends DescMessage>(
  schema: Schema,
  subject: string,
  fields: Omit<MessageInitShape<Schema>, "revision">,
): Published => ({ schema, subject, fields });

/** Creates the function that adds an event to the outbox, in the transaction of `em`. */
export const createRecorder =
  <Event extends DomainEvent>(table: PublishedEvents<Event>) =>
  async (em: EntityManager, event: Event): Promise<void> => {
    const toPublished: (event: never) => Published = table[event.type as Event["type"]];
    const { schema, subject, fields } = toPublished(event as never);
    const { revision } = event;
    const message = create(schema, { ...fields, revision } as MessageInitShape<typeof schema>);
    await recordEvent(em, { schema, message, subject, revision });
  };
