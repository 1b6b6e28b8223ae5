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

/** A document and whether it contains a secret: such a document is neither cached nor compressed. */
export interface Composed {
  document: Document;
  hasSecret: boolean;
}

/** Renders the document of one item. Calls no service unless includes are requested. */
export async function documentOf<Item, Context>(
  resource: CompiledResource<Item, Context>,
  item: Item,
  context: Context,
  includes?: IncludeTree,
): Promise<Composed> {
  const { document, hasSecret } = await listDocument(resource, [item], context, includes);
  const [data = resource.toObject(item, context)] = document.data;
  return { document: { ...document, data }, hasSecret };
}

/** Renders the document of a list, in the order of `items`. */
export async function listDocument<Item, Context>(
  resource: CompiledResource<Item, Context>,
  items: readonly Item[],
  context: Context,
  includes?: IncludeTree,
): Promise<Composed & { document: Document & { data: ResourceObject[] } }> {
  const primary = groupOf(resource, items);
  if (!includes) {
    return { document: { data: primary.objects(context) }, hasSecret: primary.hasSecret() };
  }
  const groups = await resolveIncludes(primary, includes, context);
  const data = primary.objects(context);
  return {
    document: { data, included: distinct(data, groups, context) },
    hasSecret: [primary, ...groups].some((group) => group.hasSecret()),
  };
}
