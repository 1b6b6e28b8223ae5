/** Names one resource, as JSON:API links to it. */
export interface Identifier {
  readonly type: string;
  readonly id: string;
}

export type Links = Readonly<Record<string, string>>;

/** What a document shows under a relationship's name. `data` is left out where only loading would tell. */
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

/** Resources of one type that an include brought, and their way to further ones. */
export interface Group<Context> {
  readonly type: string;
  /** Loads what `relationship` (as the wire spells it) leads to, one batched call for each type. */
  load(relationship: string, context: Context): Promise<readonly Group<Context>[]>;
  objects(context: Context): ResourceObject[];
}

/** What loading a relationship of many parents brought. */
export interface Loaded<Item, Context> {
  groups: readonly Group<Context>[];
  /** What each parent links to, where `show` cannot know it. */
  linkage?: ReadonlyMap<Item, readonly Identifier[]>;
}

export interface Relationship<Item, Context> {
  show(item: Item): RelationshipObject;
  /** Absent when it cannot be included. */
  load?(parents: readonly Item[], context: Context): Promise<Loaded<Item, Context>>;
}

export interface Resource<Item, Context> {
  readonly type: string;
  readonly id: (item: Item) => string;
  /** One literal, so that the engine gives every document of the type one shape. */
  readonly attributes: (item: Item, context: Context) => object;
  readonly relationships?: Readonly<Record<string, Relationship<Item, Context>>>;
  readonly links?: (item: Item) => Links;
  /** One batched call; what the caller may not read is left out. Keys are what linkages load by. */
  readonly loadMany?: (keys: readonly string[], context: Context) => Promise<readonly Item[]>;
}

/** A resource, compiled: `toObject` walks no declaration that it could have walked before. */
export interface CompiledResource<Item, Context> extends Resource<Item, Context> {
  toObject(item: Item, context: Context, linkages?: Linkages<Item>): ResourceObject;
}

/** Linkages found by includes, by relationship. */
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

/** Items of one resource as a group of documents that includes can start from. */
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
