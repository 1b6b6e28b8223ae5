import {
  type CompiledResource,
  type Group,
  groupOf,
  type Identifier,
  type Relationship,
  type RelationshipDescription,
  type RelationshipObject,
  type ResourceDescription,
} from "./resource.ts";

/** One possible type of a to-one relationship's targets. Loads the targets that have this type. */
export interface Target<Parent, Context> {
  readonly resource: () => ResourceDescription;
  load(parents: readonly Parent[], context: Context): Promise<Group<Context> | undefined>;
}

/**
 * Creates a target that loads the items of all parents in one call. `keyOf` returns the id of a parent's item, or
 * undefined if the parent has no item of this type. Each id is requested once.
 */
export const target = <Parent, Item, Context>(
  of: () => CompiledResource<Item, Context>,
  keyOf: (parent: Parent) => string | undefined,
): Target<Parent, Context> => ({
  resource: of,
  async load(parents, context) {
    const keys = new Set<string>();
    for (const parent of parents) {
      const key = keyOf(parent);
      if (key) keys.add(key);
    }
    const { type, loadMany } = of();
    if (keys.size === 0) return undefined;
    if (!loadMany) throw new Error(`${type} cannot be included`);
    return groupOf(of(), await loadMany([...keys], context));
  },
});

/** Creates a target whose only item is known in advance. Loading it calls no service. */
export const fixedTarget = <Parent, Item, Context>(
  of: () => CompiledResource<Item, Context>,
  item: Item,
  leadsThere: (parent: Parent) => boolean,
): Target<Parent, Context> => ({
  resource: of,
  load: async (parents) => (parents.some(leadsThere) ? groupOf(of(), [item]) : undefined),
});

const noResources = () => [];

/**
 * Declares a relationship to at most one resource. The resource's type is one of `types` or the type of one of the
 * targets.
 */
export function toOne<Parent, Context>(declaration: {
  types?: readonly string[];
  linkage: (parent: Parent) => Identifier | null;
  link?: ((parent: Parent) => string) | undefined;
  targets?: readonly Target<Parent, Context>[] | undefined;
}): Relationship<Parent, Context> {
  const { types = [], linkage, link, targets } = declaration;
  const description: RelationshipDescription = {
    types,
    many: false,
    data: "always",
    link: link !== undefined,
    resources: targets ? () => targets.map(({ resource }) => resource()) : noResources,
  };
  const show = link
    ? (parent: Parent): RelationshipObject => ({
        data: linkage(parent),
        links: { related: link(parent) },
      })
    : (parent: Parent): RelationshipObject => ({ data: linkage(parent) });
  if (!targets) return { description, show };
  return {
    description,
    show,
    async load(parents, context) {
      const groups = await Promise.all(targets.map(({ load }) => load(parents, context)));
      return { groups: groups.filter((group) => group !== undefined) };
    },
  };
}

/** Declares a relationship to at most one resource, whose id is in the parent. */
export const toOneOf = <Parent, Item, Context>({
  type,
  idOf,
  link,
  resource,
}: {
  type: string;
  /** Returns undefined or an empty string if there is no such resource. */
  idOf: (parent: Parent) => string | undefined;
  link?: (parent: Parent) => string;
  /** Omitted if the relationship cannot be included. */
  resource?: () => CompiledResource<Item, Context>;
}): Relationship<Parent, Context> =>
  toOne({
    types: [type],
    linkage: (parent) => {
      const id = idOf(parent);
      return id ? { type, id } : null;
    },
    link,
    targets: resource && [target(resource, idOf)],
  });

/** Declares a relationship to at most one resource that is part of its parent. Loading it calls no service. */
export const embedded = <Parent, Item, Context>(declaration: {
  resource: () => CompiledResource<Item, Context>;
  of: (parent: Parent) => Item | undefined;
}): Relationship<Parent, Context> => ({
  description: {
    types: [],
    many: false,
    data: "always",
    link: false,
    resources: () => [declaration.resource()],
  },
  show: (parent) => {
    const item = declaration.of(parent);
    const { type, id } = declaration.resource();
    return { data: item === undefined ? null : { type, id: id(item) } };
  },
  async load(parents) {
    const items = parents.map(declaration.of).filter((item) => item !== undefined);
    return { groups: [groupOf(declaration.resource(), items)] };
  },
});

/**
 * Declares a relationship to many resources that refer to their parent. They are loaded for all parents in one call.
 */
export function toMany<Parent, Item, Context>(declaration: {
  /**
   * The link at which the resources are listed. `data` is shown only if the relationship is included; without a link,
   * other documents omit the relationship.
   */
  link?: (parent: Parent) => string;
  resource: () => CompiledResource<Item, Context>;
  keyOf: (parent: Parent) => string;
  loadFor: (keys: readonly string[], context: Context) => Promise<readonly Item[]>;
  parentKeyOf: (item: Item) => string;
}): Relationship<Parent, Context> {
  const { link, keyOf, loadFor, parentKeyOf } = declaration;
  return {
    description: {
      types: [],
      many: true,
      link: link !== undefined,
      // A relationship without a link is shown only with its data.
      ...(link ? { data: "included" } : { data: "always", optional: true }),
      resources: () => [declaration.resource()],
    },
    show: (parent) => link && { links: { related: link(parent) } },
    async load(parents, context) {
      const of = declaration.resource();
      const keys = [...new Set(parents.map(keyOf))];
      const items = await loadFor(keys, context);
      const byParent = Map.groupBy(items, parentKeyOf);
      const linkage = new Map<Parent, readonly Identifier[]>();
      for (const parent of parents) {
        const children = byParent.get(keyOf(parent)) ?? [];
        linkage.set(
          parent,
          children.map((child) => ({ type: of.type, id: of.id(child) })),
        );
      }
      return { groups: [groupOf(of, items)], linkage };
    },
  };
}

const nothing: RelationshipObject = { data: null };

/** A to-one relationship that is always empty. It exists because clients expect the member. */
export const empty = {
  description: { types: [], many: false, data: "always", link: false, resources: noResources },
  show: (): RelationshipObject => nothing,
} as const;

/** A to-many relationship that is always empty. It exists because clients expect the member. */
export const emptyList = {
  description: { types: [], many: true, data: "always", link: false, resources: noResources },
  show: (): RelationshipObject => ({ data: [] }),
} as const;

/** Declares a relationship to one resource. Documents omit the relationship if there is no such resource. */
export const ifPresent = <Parent>(type: string, idOf: (parent: Parent) => string | undefined) => ({
  description: {
    types: [type],
    many: false,
    data: "always",
    link: false,
    optional: true,
    resources: noResources,
  } as const,
  show: (parent: Parent): RelationshipObject | undefined => {
    const id = idOf(parent);
    return id ? { data: { type, id } } : undefined;
  },
});

/** Declares a relationship that has a link and no linkage. */
export const related = <Parent>(link: (parent: Parent) => string) => ({
  description: {
    types: [],
    many: false,
    data: "never",
    link: true,
    resources: noResources,
  } as const,
  show: (parent: Parent): RelationshipObject => ({ links: { related: link(parent) } }),
});

/** Declares a relationship to many resources whose ids are in the parent. */
export function toManyOf<Parent, Item, Context>(declaration: {
  type: string;
  idsOf: (parent: Parent) => readonly string[];
  /** Omitted if the relationship cannot be included. */
  resource?: () => CompiledResource<Item, Context>;
}): Relationship<Parent, Context> {
  const { type, idsOf, resource } = declaration;
  const description: RelationshipDescription = {
    types: [type],
    many: true,
    data: "always",
    link: false,
    resources: resource ? () => [resource()] : noResources,
  };
  const show = (parent: Parent): RelationshipObject => ({
    data: idsOf(parent).map((id) => ({ type, id })),
  });
  if (!resource) return { description, show };
  return {
    description,
    show,
    async load(parents, context) {
      const of = resource();
      const ids = [...new Set(parents.flatMap(idsOf))];
      if (ids.length === 0) return { groups: [] };
      if (!of.loadMany) throw new Error(`${of.type} cannot be included`);
      return { groups: [groupOf(of, await of.loadMany(ids, context))] };
    },
  };
}
