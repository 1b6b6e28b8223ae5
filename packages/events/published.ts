import {
  create,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { changedProperties, type EntityManager } from "@statehouse/postgres";
import { kebabCase } from "@statehouse/runtime";
import { eventType } from "./event.ts";
import { recordEvent } from "./outbox.ts";

/**
 * Maps a property of a row to the name of its attribute in documents. Needed only if this name is not the property's
 * own name in kebab-case. Null if documents do not show the property.
 */
export type AttributeNames = Readonly<Record<string, string | null>>;

/** An event with its message. The events of one subject are ordered by their revision. */
export interface Published {
  schema: DescMessage;
  /** Id of the changed row. */
  subject: string;
  /** The fields of the message. They never contain a secret. */
  fields: { revision: bigint };
  /** The row whose changes the field `changedAttributes` of the message names, and names of its attributes. */
  changed: readonly [row?: object, attributeNames?: AttributeNames];
}

type Changed<Schema extends DescMessage> = "changedAttributes" extends keyof MessageShape<Schema>
  ? [row: object, attributeNames?: AttributeNames]
  : [];

/**
 * Creates an event. The compiler checks the fields against the message. An event whose message has the field
 * `changedAttributes` also needs the changed row.
 */
export const published = <Schema extends DescMessage>(
  schema: Schema,
  subject: string,
  fields: Omit<MessageInitShape<Schema>, "changedAttributes" | "revision"> & { revision: bigint },
  ...changed: Changed<Schema>
): Published => ({ schema, subject, fields, changed });

const hiddenEverywhere: AttributeNames = {
  revision: null,
  version: null,
  updatedAt: null,
  retryAt: null,
};

/** Returns the sorted names of the attributes that have changed since the row was loaded. */
function changedIn(em: EntityManager, row: object, attributeNames: AttributeNames = {}): string[] {
  const names = { ...hiddenEverywhere, ...attributeNames };
  const changed = changedProperties(em, [row]).map((name) =>
    name in names ? names[name] : kebabCase(name),
  );
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
 * Adds an event to the outbox, in the transaction of `em`. `alsoRecord` records further values of the event in the same
 * transaction, for example an audit record.
 */
export async function recordPublished(
  em: EntityManager,
  { schema, subject, fields, changed: [row, attributeNames] }: Published,
  alsoRecord: (facts: EventFacts) => void,
): Promise<void> {
  const changedAttributes = row && changedIn(em, row, attributeNames);
  const init = { ...fields, ...(changedAttributes && { changedAttributes }) };
  const message = create(schema, init as MessageInitShape<typeof schema>);
  alsoRecord({
    type: eventType(schema),
    subject,
    organizationId: organizationOf(fields),
    changedAttributes: changedAttributes ?? [],
  });
  await recordEvent(em, { schema, message, subject, revision: fields.revision });
}
