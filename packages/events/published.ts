import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { changedProperties, type EntityManager } from "@statehouse/postgres";
import { kebabCase } from "@statehouse/runtime";

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
export function changedIn(
  em: EntityManager,
  row: object,
  attributeNames: AttributeNames = {},
): string[] {
  const names = { ...hiddenEverywhere, ...attributeNames };
  const changed = changedProperties(em, [row]).map((name) =>
    name in names ? names[name] : kebabCase(name),
  );
  return [...new Set(changed.filter((name) => typeof name === "string"))].toSorted();
}
