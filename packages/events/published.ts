import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { changedProperties, type EntityManager } from "@statehouse/postgres";
import { kebabCase } from "@statehouse/runtime";
import { eventType } from "./event.ts";
import { recordEvent } from "./outbox.ts";

/** The message of a published event. */
export interface Published {
  schema: DescMessage;
  /** Id of the changed row. */
  subject: string;
  /** The fields of the message except the revision, which every event has. They never contain a secret. */
  fields: object;
}

/** An event of a service's domain. The events of one subject are ordered by `revision`. */
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

/** For each event type of a service, the function that creates the message of an event. */
export type PublishedEvents<Event extends DomainEvent> = {
  [Type in Event["type"]]: (event: EventOfType<Event, Type>) => Published;
};

/** Creates an entry of `PublishedEvents`. The compiler checks the fields against the message. */
export const published = <Schema extends DescMessage>(
  schema: Schema,
  subject: string,
  fields: Omit<MessageInitShape<Schema>, "changedAttributes" | "revision">,
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

/**
 * Maps a property of a row to the name of its attribute in documents. Needed only if this name is not the property's
 * own name in kebab-case. Null if documents do not show the property.
 */
export type AttributeNames = Readonly<Record<string, string | null>>;

interface PublishingNoun {
  published?: Readonly<Record<string, (event: never) => Published>>;
  attributeNames?: AttributeNames;
}

const hiddenEverywhere: AttributeNames = {
  revision: null,
  version: null,
  updatedAt: null,
  retryAt: null,
};

/**
 * Returns the sorted names of the attributes that have changed since loading, in all entities to which the event refers.
 */
function changedIn(
  em: EntityManager,
  event: DomainEvent,
  attributeNames: AttributeNames,
): string[] {
  const rows = Object.values(event).filter((value) => typeof value === "object" && value !== null);
  const properties = changedProperties(em, rows);
  const names = { ...hiddenEverywhere, ...attributeNames };
  const changed = properties.map((name) => (name in names ? names[name] : kebabCase(name)));
  return [...new Set(changed.filter((name) => typeof name === "string"))].toSorted();
}

const organizationOf = (fields: object): string | undefined =>
  "organizationId" in fields && typeof fields.organizationId === "string"
    ? fields.organizationId
    : undefined;

/** The values of an event from which its audit record is made. */
export interface EventFacts {
  /** `statehouse.<service>.<noun>.<verb>.v1` */
  type: string;
  /** The id of the changed object. */
  subject: string;
  organizationId: string | undefined;
  changedAttributes: readonly string[];
}

/**
 * Creates the function that adds an event of one of `nouns` to the outbox, in the transaction of `em`. `alsoRecord`
 * records further values of the event in the same transaction, for example an audit record.
 */
export function createRecorder<Nouns extends Record<string, object>>(
  nouns: Nouns,
  alsoRecord: (em: EntityManager, event: EventFacts) => void,
) {
  const table = new Map(
    Object.values<PublishingNoun>(nouns).flatMap(({ published = {}, attributeNames = {} }) =>
      Object.entries(published).map(([type, toPublished]) => [
        type,
        { toPublished, attributeNames },
      ]),
    ),
  );
  return async (em: EntityManager, event: EventOf<Nouns>): Promise<void> => {
    const { type, revision } = event as DomainEvent;
    const entry = table.get(type);
    if (!entry) throw new Error(`no message is published for the event ${type}`);
    const { schema, subject, fields } = entry.toPublished(event as never);
    const changedAttributes =
      "changedAttributes" in schema.field
        ? changedIn(em, event as DomainEvent, entry.attributeNames)
        : undefined;
    const init = { ...fields, revision, ...(changedAttributes && { changedAttributes }) };
    const message = create(schema, init as MessageInitShape<typeof schema>);
    const facts = {
      type: eventType(schema),
      subject,
      organizationId: organizationOf(fields),
      changedAttributes: changedAttributes ?? [],
    };
    alsoRecord(em, facts);
    await recordEvent(em, { schema, message, subject, revision });
  };
}
