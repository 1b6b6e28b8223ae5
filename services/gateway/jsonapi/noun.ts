import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { z } from "zod";
import { documentBody, optional, section, typeOf, uncheckedTypeOf } from "./body.ts";
import type { Pointers } from "./pointers.ts";
import type { Attributes } from "./resource.ts";
import { bothSpellings, type Spellings } from "./spelling.ts";

/** The fields of a message in the form that a client of the service accepts. */
export type FieldsOf<Desc extends DescMessage> = Omit<
  Exclude<MessageInitShape<Desc>, { readonly $typeName: string }>,
  "$typeName"
>;

/** A member of a body that sets one field of the service's message. */
interface FieldInput<Message, Field extends keyof Message> {
  field: Field;
  /** The schema of the value; null and absent both mean that there is no value. */
  in: z.ZodType<Message[Field] | undefined>;
  /**
   * If true, null differs from absent: null removes the value, and `Parsed.unset` then contains the field's name. An
   * absent member changes nothing.
   */
  removable?: true;
}
type AnyFieldInput<Message> = {
  [Field in keyof Message]-?: FieldInput<Message, Field>;
}[keyof Message];

/** A member of a body that sets several fields. `in` converts the member to these fields. */
interface GroupInput<Message> {
  field?: never;
  in: z.ZodType<Partial<Message>>;
}

/** How documents show a member that is not simply the item's field of the same name. */
type Output<Item, Context> =
  | { out: (item: Item, context: Context) => unknown; shown: z.ZodType; writeOnly?: never }
  | { out?: never; shown?: never; writeOnly: true };

/**
 * An attribute. If `out` is absent, documents show the item's field of the same name, or null if the item does not have
 * the field. `shown` is the schema of the attribute in documents, if it differs from `in`.
 */
type Attribute<Message, Item, Context> =
  | {
      [Field in keyof Message]-?: FieldInput<Message, Field> &
        (
          | Output<Item, Context>
          | (Field extends keyof Item
              ? { out?: never; shown?: z.ZodType; writeOnly?: never }
              : never)
        );
    }[keyof Message]
  | (GroupInput<Message> & Output<Item, Context>);

/**
 * The attributes that clients send for a noun, by their JSON:API names. Parsing, rendering and JSON pointers are
 * derived from this table, so a new field is one line here. Read-only attributes are declared in the resource instead.
 */
export interface Noun<Message, Item, Context> {
  type: string;
  /** Whether the specification demands the `type` member of bodies; otherwise it is not checked. */
  checksType?: true;
  attributes: Readonly<Record<string, Attribute<Message, Item, Context>>>;
  relationships?: Readonly<Record<string, AnyFieldInput<Message>>>;
  /** Attributes that have an alternative name. */
  spellings?: Spellings;
  /** The JSON pointers of message fields that correspond to a part of a member or to an item of a list. */
  pointers?: Pointers;
}

/** The message fields that a body sets; `unset` contains the names of the fields that the body removes. */
export type Parsed<Message> = Partial<Message> & { unset?: string[] };

type Inputs = Readonly<
  Record<string, { field?: PropertyKey; in: z.ZodType; removable?: boolean | undefined }>
>;

/**
 * Returns the schema of the body that creates or updates a noun, and the JSON pointers of its fields. `required` are
 * the names of required attributes.
 */
export function bodyOf<Message, Item, Context>(
  {
    type,
    checksType,
    attributes,
    relationships = {},
    spellings = {},
    pointers,
  }: Noun<Message, Item, Context>,
  required: readonly string[] = [],
): { body: z.ZodType<Parsed<Message>>; pointers: Pointers } {
  const body = documentBody(
    z.object({
      type: checksType ? typeOf(type) : uncheckedTypeOf(type),
      attributes: section(bothSpellings(spellings, fieldsIn<Message>(attributes, required))),
      relationships: section(fieldsIn<Message>(relationships)),
    }),
  ).transform(({ data }) => ({ ...data.attributes, ...data.relationships }));
  return {
    body,
    pointers: {
      ...pointersOf("/data/attributes", attributes),
      ...pointersOf("/data/relationships", relationships),
      ...pointers,
    },
  };
}

/** Returns the schema of an object with these members, which converts them to message fields. */
export const fieldsIn = <Message>(
  inputs: Readonly<Record<string, AnyFieldInput<Message> | GroupInput<Message>>>,
  required: readonly string[] = [],
): z.ZodType<Parsed<Message>> =>
  objectOf(inputs, required).transform((values) => {
    const fields: Record<PropertyKey, unknown> = {};
    const unset: PropertyKey[] = [];
    for (const [name, { field }] of Object.entries(inputs)) {
      const value = values[name];
      if (value === undefined) continue;
      if (field === undefined) Object.assign(fields, value);
      else if (value === null) unset.push(field);
      else fields[field] = value;
    }
    if (unset.length > 0) fields.unset = unset;
    // Safe cast: the types of `inputs` guarantee that each value belongs to its field.
    return fields as Parsed<Message>;
  });

const objectOf = (inputs: Inputs, required: readonly string[]) =>
  z.object(
    Object.fromEntries(
      Object.entries(inputs).map(([name, { in: schema, removable }]) => {
        if (required.includes(name)) return [name, schema];
        return [name, removable ? schema.nullish() : optional(schema)];
      }),
    ),
  );

const pointersOf = (parent: string, inputs: Inputs): Pointers =>
  Object.fromEntries(
    Object.entries(inputs).flatMap(([name, { field }]) =>
      field === undefined ? [] : [[field, `${parent}/${name}`]],
    ),
  );

/** Returns the attributes of a noun as documents show them, without attributes that can only be written. */
export const attributesOf = <Message, Item extends object, Context>({
  attributes,
}: Noun<Message, Item, Context>): Attributes<Item, Context> =>
  Object.fromEntries(
    Object.entries(attributes)
      .filter(([, { writeOnly }]) => !writeOnly)
      .map(([name, { field, out, in: schema, shown = schema }]) => {
        const fieldOf = (item: Item): unknown => Reflect.get(item, field ?? name) ?? null;
        return [name, [shown, out ?? fieldOf]];
      }),
  );
