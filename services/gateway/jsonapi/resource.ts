/** Identifies one resource in JSON:API linkages. */
export interface Identifier {
  readonly type: string;
  readonly id: string;
}

export type Links = Readonly<Record<string, string>>;

/** The content of a relationship in a document. `data` is omitted if it is known only after loading. */
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

/** Included resources of one type, and their own relationships. */
export interface Group<Context> {
  readonly type: string;
  /** Loads the targets of `relationship` (by its name in documents), one batched call for each type. */
  load(relationship: string, context: Context): Promise<readonly Group<Context>[]>;
  objects(context: Context): ResourceObject[];
}

/** The result of loading a relationship of many parents. */
export interface Loaded<Item, Context> {
  groups: readonly Group<Context>[];
  /** The linkage of each parent, if `show` cannot determine it. */
  linkage?: ReadonlyMap<Item, readonly Identifier[]>;
}

export interface Relationship<Item, Context> {
  show(item: Item): RelationshipObject;
  /** Absent if the relationship cannot be included. */
  load?(parents: readonly Item[], context: Context): Promise<Loaded<Item, Context>>;
}

export interface Resource<Item, Context> {
  readonly type: string;
  readonly id: (item: Item) => string;
  /** One literal, so that the engine gives every document of the type one shape. */
  readonly attributes: (item: Item, context: Context) => object;
  readonly relationships?: Readonly<Record<string, Relationship<Item, Context>>>;
  readonly links?: (item: Item) => Links;
  /**
   * Loads resources in one batched call; those that the caller may not read are omitted. Keys are those of the
   * linkages.
   */
  readonly loadMany?: (keys: readonly string[], context: Context) => Promise<readonly Item[]>;
}

/** A compiled resource: `toObject` does not interpret the declaration again. */
export interface CompiledResource<Item, Context> extends Resource<Item, Context> {
  toObject(item: Item, context: Context, linkages?: Linkages<Item>): ResourceObject;
}

/** Linkages that were found by includes, by relationship. */
export type Linkages<Item> = ReadonlyMap<string, ReadonlyMap<Item, readonly Identifier[]>>;

/** Declares a resource. */
export function resource<Item, Context>(
  declaration: Resource<Item, Context>,
): CompiledResource<Item, Context> {
  const { type, id, attributes, links } = declaration;
  const relationships = Object.entries(declaration.relationships ?? {});
  return {
    ...declaration,
    toObject(item, context, linkages) {
      const object: ResourceObject = { id: id(item), type, attributes: attributes(item, context) };
      if (relationships.length > 0) {
        const shown: Record<string, RelationshipObject> = {};
        for (const [name, relationship] of relationships) {
          const member = relationship.show(item);
          const found = linkages?.get(name)?.get(item);
          shown[name] = found ? { ...member, data: found } : member;
        }
        object.relationships = shown;
      }
      if (links) object.links = links(item);
      return object;
    },
  };
}

/** Turns items of one resource into a group of documents from which includes can start. */
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
  };
}
