import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { EntityManager } from "@statehouse/postgres";
import { recordEvent } from "./outbox.ts";

/** The message of a published event. */
export interface Published {
  schema: DescMessage;
  /** Id of the changed row. */
  subject: string;
  /** The fields of the message except the revision, which every event has. They never contain a secret. */
  fields: object;
}

/** An event of a service's domain. `revision` orders the events of one subject. */
interface DomainEvent {
  type: string;
  revision: bigint;
}

/** The member of the union `Event` whose type is `Type`. */
type EventOfType<Event extends DomainEvent, Type extends Event["type"]> = Event extends DomainEvent
  ? Type extends Event["type"]
    ? Event
    : never
  : never;

/** For each event type of a service, the function that creates the event's message. */
export type PublishedEvents<Event extends DomainEvent> = {
  [Type in Event["type"]]: (event: EventOfType<Event, Type>) => Published;
};

/** Creates an entry of `PublishedEvents`, with its fields checked against the message. */
export const published = <Schema extends DescMessage>(
  schema: Schema,
  subject: string,
  fields: Omit<MessageInitShape<Schema>, "revision">,
): Published => ({ schema, subject, fields });

type EventOfTable<Table> = Table extends unknown
  ? {
      [Type in keyof Table]: Table[Type] extends (event: infer Event) => unknown ? Event : never;
    }[keyof Table]
  : never;

/** The union of all events that the nouns of a service's store publish, from their `published` tables. */
export type EventOf<Nouns> = EventOfTable<
  Extract<Nouns[keyof Nouns], { published: object }>["published"]
>;

/** Creates the function that adds an event of these nouns to the outbox, in the transaction of `em`. */
export function createRecorder<Nouns extends Record<string, object>>(nouns: Nouns) {
  const tables = Object.values<{ published?: object }>(nouns).map(({ published }) => published);
  const table: Record<string, (event: never) => Published> = Object.assign({}, ...tables);
  return async (em: EntityManager, event: EventOf<Nouns>): Promise<void> => {
    const { type, revision } = event as DomainEvent;
    const toPublished = table[type];
    if (!toPublished) throw new Error(`no message is published for the event ${type}`);
    const { schema, subject, fields } = toPublished(event as never);
    const message = create(schema, { ...fields, revision } as MessageInitShape<typeof schema>);
    await recordEvent(em, { schema, message, subject, revision });
  };
}
