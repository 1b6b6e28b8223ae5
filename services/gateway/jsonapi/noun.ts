import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { z } from "zod";
import { documentBody, optional, section, typeOf } from "./body.ts";
import type { Pointers } from "./pointers.ts";
import { bothSpellings, type Spellings } from "./spelling.ts";

/** The fields of a message in the form that its service accepts. */
export type FieldsOf<Desc extends DescMessage> = Omit<
  Exclude<MessageInitShape<Desc>, { readonly $typeName: string }>,
  "$typeName"
>;

/** A member of a body that maps to one field of the service's message. */
interface FieldInput<Message, Field extends keyof Message> {
  field: Field;
  /** The schema of the value; absent and null mean the same. */
  in: z.ZodType<Message[Field] | undefined>;
  /** If set, null differs from absent: it removes the value, and `unset` names the field. */
  removable?: true;
}
type AnyFieldInput<Message> = {
  [Field in keyof Message]-?: FieldInput<Message, Field>;
}[keyof Message];

/** A member of a body that maps to several fields: the result of `in`. */
interface GroupInput<Message> {
  field?: never;
  in: z.ZodType<Partial<Message>>;
}

/** How documents show a member that differs from the item's field of the same name. */
type Output<Item, Context> =
  | { out: (item: Item, context: Context) => unknown; writeOnly?: never }
  | { out?: never; writeOnly: true };

/** Without `out`, documents show the item's field, or null if it is absent. */
type Attribute<Message, Item, Context> =
  | {
      [Field in keyof Message]-?: FieldInput<Message, Field> &
        (
          | Output<Item, Context>
          | (Field extends keyof Item ? { out?: never; writeOnly?: never } : never)
        );
    }[keyof Message]
  | (GroupInput<Message> & Output<Item, Context>);

/**
 * The attributes that clients send for a noun, by their JSON:API names. Bodies, attributes and pointers are derived
 * from this table, so that a new field is one line here. Read-only attributes are in the resource.
 */
export interface Noun<Message, Item, Context> {
  type: string;
  attributes: Readonly<Record<string, Attribute<Message, Item, Context>>>;
  relationships?: Readonly<Record<string, AnyFieldInput<Message>>>;
  /** Members that have an alternative name. */
  spellings?: Spellings;
  /** Positions of fields that are not a member themselves: parts of a member and items of a list. */
  pointers?: Pointers;
}

/** The fields of a body; `unset` names those that the body removes. */
export type Parsed<Message> = Partial<Message> & { unset?: string[] };

type Inputs = Readonly<
  Record<string, { field?: PropertyKey; in: z.ZodType; removable?: boolean | undefined }>
>;

/**
 * The body of a request that creates or updates a noun, and the position of each field. `required` are the required
 * attributes.
 */
export function bodyOf<Message, Item, Context>(
  { type, attributes, relationships = {}, spellings = {}, pointers }: Noun<Message, Item, Context>,
  required: readonly string[] = [],
): { body: z.ZodType<Parsed<Message>>; pointers: Pointers } {
  const body = documentBody(
    z.object({
      type: typeOf(type),
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

/** The schema of an object with these members, converted to message fields. */
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
    // The types of `inputs` guarantee that each value belongs to its field.
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

/** Renders the attributes of `noun`. */
export function attributesOf<Message, Item extends object, Context>({
  attributes,
}: Noun<Message, Item, Context>): (item: Item, context: Context) => Record<string, unknown> {
  const shown = Object.entries(attributes)
    .filter(([, { writeOnly }]) => !writeOnly)
    .map(([name, { field, out }]) => {
      const fieldOf = (item: Item): unknown => Reflect.get(item, field ?? name) ?? null;
      return { name, show: out ?? fieldOf };
    });
  // Compiled from source text, so that the engine gives all documents of the type one shape; objects that grow by
  // computed names have no common shape.
  const blank = JSON.parse(JSON.stringify(Object.fromEntries(shown.map(({ name }) => [name, 0]))));
  return (item, context) => {
    const values: Record<string, unknown> = { ...blank };
    for (const { name, show } of shown) values[name] = show(item, context);
    return values;
  };
}
