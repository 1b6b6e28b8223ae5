import type { z } from "zod";

/** The type and id of a resource, as in JSON:API linkages. */
export interface Identifier {
  readonly type: string;
  readonly id: string;
}

export type Links = Readonly<Record<string, string>>;

/** A relationship in the form in which documents show it. `data` is omitted if it is known only after loading. */
export interface RelationshipObject {
  data?: Identifier | readonly Identifier[] | null;
  links?: Links;
}

export interface ResourceObject {
  id: string;
  type: string;
  attributes: object;
  relationships?: Record<string, RelationshipObject>;
  links?: Links;
}

/** Resources of one type whose relationships can be loaded. */
export interface Group<Context> {
  readonly type: string;
  /** Loads the resources that `relationship` (its name in documents) refers to, in one batched call for each type. */
  load(relationship: string, context: Context): Promise<readonly Group<Context>[]>;
  objects(context: Context): ResourceObject[];
  /** Whether the document of any of the resources contains a secret. */
  hasSecret(): boolean;
}

/** The result of loading one relationship for many parents. */
export interface Loaded<Item, Context> {
  groups: readonly Group<Context>[];
  /** The linkage of each parent; set if `show` cannot determine the linkage from the parent alone. */
  linkage?: ReadonlyMap<Item, readonly Identifier[]>;
}

/** The form of a relationship in JSON:API documents, for the OpenAPI document. */
export interface RelationshipDescription {
  /** The possible types of the linked resources, in addition to those of `resources`. */
  readonly types: readonly string[];
  readonly many: boolean;
  /** Whether `data` is shown: always, only if the relationship is included, or never. */
  readonly data: "always" | "included" | "never";
  /** Whether the relationship has the link `related`. */
  readonly link: boolean;
  /** Whether documents can omit the relationship. */
  readonly optional?: true;
  /** Whether `data` can be null, in a relationship that documents can omit. */
  readonly nullable?: true;
  /** The editions whose documents have the relationship; all if omitted. */
  readonly editions?: Readonly<Record<string, unknown>>;
  /** The resources that an include adds; empty if the relationship cannot be included. */
  readonly resources: () => readonly ResourceDescription[];
}

/** An attribute in documents: its schema, and the function that returns its value. */
type Attribute<Item, Context> = readonly [
  schema: z.ZodType,
  show: (item: Item, context: Context) => unknown,
];

/** The attributes of a resource by name. Documents omit an attribute whose value is undefined. */
export type Attributes<Item, Context> = Readonly<Record<string, Attribute<Item, Context>>>;

/** The form of a resource in JSON:API documents, for the OpenAPI document. */
export interface ResourceDescription {
  readonly type: string;
  /** Distinguishes resources of the same type that have different members. */
  readonly variant?: string;
  readonly attributes: Readonly<Record<string, readonly [schema: z.ZodType, show: unknown]>>;
  readonly relationships?: Readonly<
    Record<string, { readonly description: RelationshipDescription }>
  >;
  /** The names of the resource's links. If omitted, a resource with `links` has only `self`. */
  readonly linkNames?: readonly string[];
  readonly links?: unknown;
  /** Whether documents can omit the links. */
  readonly linksAreOptional?: true;
}

export interface Relationship<Item, Context> {
  readonly description: RelationshipDescription;
  /** Returns undefined if the document omits the relationship. */
  show(item: Item, context: Context): RelationshipObject | undefined;
  /** Omitted if the relationship cannot be included. */
  load?(parents: readonly Item[], context: Context): Promise<Loaded<Item, Context>>;
}

export interface Resource<Item, Context> extends ResourceDescription {
  readonly id: (item: Item) => string;
  readonly attributes: Attributes<Item, Context>;
  readonly relationships?: Readonly<Record<string, Relationship<Item, Context>>>;
  /** Returns undefined if the document omits the links. */
  readonly links?: (item: Item) => Links | undefined;
  /** Whether the document of the item contains a secret or a URL that grants access; omitted if it never does. */
  readonly hasSecret?: (item: Item) => boolean;
  /**
   * Loads resources in one batched call. Resources that the caller is not allowed to read are omitted. The keys are the
   * ids that linkages contain.
   */
  readonly loadMany?: (keys: readonly string[], context: Context) => Promise<readonly Item[]>;
}

/**
 * A resource whose declaration was processed in advance, so that `toObject` does not repeat that work for each item.
 */
export interface CompiledResource<Item, Context> extends Resource<Item, Context> {
  toObject(item: Item, context: Context, linkages?: Linkages<Item>): ResourceObject;
}

/** Linkages that were found while includes were loaded, by relationship and parent. */
export type Linkages<Item> = ReadonlyMap<string, ReadonlyMap<Item, readonly Identifier[]>>;

/** Compiles the declaration of a resource. */
export function resource<Item, Context>(
  declaration: Resource<Item, Context>,
): CompiledResource<Item, Context> {
  const { type, id, links } = declaration;
  const attributes = Object.entries(declaration.attributes).map(([name, [, show]]) => ({
    name,
    show,
  }));
  // `blank` is parsed from JSON, so that V8 gives all documents of a type the same object shape. Objects that get their
  // members one by one under computed names have no common shape.
  const blank = JSON.parse(
    JSON.stringify(Object.fromEntries(attributes.map(({ name }) => [name, 0]))),
  );
  const attributesOf = (item: Item, context: Context): object => {
    const values: Record<string, unknown> = { ...blank };
    for (const { name, show } of attributes) values[name] = show(item, context);
    return values;
  };
  const relationships = Object.entries(declaration.relationships ?? {});
  return {
    ...declaration,
    toObject(item, context, linkages) {
      const object: ResourceObject = {
        id: id(item),
        type,
        attributes: attributesOf(item, context),
      };
      if (relationships.length > 0) {
        const shown: Record<string, RelationshipObject> = {};
        for (const [name, relationship] of relationships) {
          const member = relationship.show(item, context);
          const found = linkages?.get(name)?.get(item);
          if (found) shown[name] = { ...member, data: found };
          else if (member) shown[name] = member;
        }
        object.relationships = shown;
      }
      const own = links?.(item);
      if (own) object.links = own;
      return object;
    },
  };
}

/** Combines items of one resource into a group whose relationships can be loaded. */
export function groupOf<Item, Context>(
  of: CompiledResource<Item, Context>,
  items: readonly Item[],
): Group<Context> {
  const linkages = new Map<string, ReadonlyMap<Item, readonly Identifier[]>>();
  return {
    type: of.type,
    async load(name, context) {
      const load = of.relationships?.[name]?.load;
      if (!load || items.length === 0) return [];
      const { groups, linkage } = await load(items, context);
      if (linkage) linkages.set(name, linkage);
      return groups;
    },
    objects: (context) => items.map((item) => of.toObject(item, context, linkages)),
    hasSecret: () => of.hasSecret !== undefined && items.some(of.hasSecret),
  };
}
