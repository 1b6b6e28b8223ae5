import { distinct, type IncludeTree, resolveIncludes } from "./include.ts";
import type { PageLinks, PaginationMeta } from "./pagination.ts";
import { type CompiledResource, groupOf, type ResourceObject } from "./resource.ts";

/** A top-level document. */
export interface Document {
  data: ResourceObject | ResourceObject[];
  included?: ResourceObject[];
  links?: PageLinks;
  meta?: { pagination: PaginationMeta };
}

/** Renders the document of one item. Calls no service unless includes are requested. */
export async function documentOf<Item, Context>(
  resource: CompiledResource<Item, Context>,
  item: Item,
  context: Context,
  includes?: IncludeTree,
): Promise<Document> {
  if (!includes) return { data: resource.toObject(item, context) };
  const { data, included } = await withIncludes(resource, [item], context, includes);
  return { data: data[0] ?? resource.toObject(item, context), included };
}

/** Renders the document of a list, in the order of `items`. */
export async function listDocument<Item, Context>(
  resource: CompiledResource<Item, Context>,
  items: readonly Item[],
  context: Context,
  includes?: IncludeTree,
): Promise<Document> {
  if (!includes) return { data: items.map((item) => resource.toObject(item, context)) };
  return withIncludes(resource, items, context, includes);
}

async function withIncludes<Item, Context>(
  resource: CompiledResource<Item, Context>,
  items: readonly Item[],
  context: Context,
  includes: IncludeTree,
) {
  const primary = groupOf(resource, items);
  const groups = await resolveIncludes(primary, includes, context);
  const data = primary.objects(context);
  return { data, included: distinct(data, groups, context) };
}
