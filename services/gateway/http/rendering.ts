import type { z } from "zod";
import { documentOf, listDocument } from "../jsonapi/document.ts";
import { stringify } from "../jsonapi/json-text.ts";
import { pageLinks, paginationOf } from "../jsonapi/pagination.ts";
import type { CompiledResource } from "../jsonapi/resource.ts";
import { wholePage } from "./paging.ts";
import type { Rendering, RequestContext } from "./route.ts";

const JSON_API = "application/vnd.api+json";

// The result of a handler is usually the response of a service. Its member `field` is the content of the document.

type ResultWith<Field extends string, Item> = { readonly [Name in Field]?: Item | undefined };
type ListWith<Field extends string, Item> = { readonly [Name in Field]: readonly Item[] };

/** Renders one resource, the member `field` of the result. */
export const one = <Item, Field extends string>(
  resource: CompiledResource<Item, RequestContext>,
  field: Field,
) => oneOf([resource], () => resource, field);

/** Renders one resource whose type depends on the item. */
export const oneOf = <Item, Field extends string>(
  resources: readonly CompiledResource<Item, RequestContext>[],
  resourceOf: (item: Item) => CompiledResource<Item, RequestContext>,
  field: Field,
): Rendering<ResultWith<Field, Item>> => ({
  contentType: JSON_API,
  content: { form: "one", resources },
  async render(result, { context, includes, onSecret }) {
    const item = result[field];
    if (item === undefined) throw new Error(`no ${field} in the service's response`);
    const resource = resourceOf(item);
    if (!includes) {
      if (resource.hasSecret?.(item)) onSecret();
      return stringify({ data: resource.toObject(item, context) });
    }
    const { document, hasSecret } = await documentOf(resource, item, context, includes);
    if (hasSecret) onSecret();
    return stringify(document);
  },
});

/**
 * Renders a page of a list of resources, the member `field` of the result. If the query does not name a page, the list is
 * complete.
 */
export const list = <Item, Field extends string>(
  resource: CompiledResource<Item, RequestContext>,
  field: Field,
): Rendering<ListWith<Field, Item> & { readonly totalCount: number }> => ({
  contentType: JSON_API,
  content: { form: "page", resources: [resource] },
  async render(result, { context, includes, page, url, onSecret }) {
    const { totalCount, [field]: items } = result;
    const { document, hasSecret } = await listDocument(resource, items, context, includes);
    if (hasSecret) onSecret();
    const pagination = paginationOf(page ?? wholePage(totalCount), totalCount);
    document.links = pageLinks(url(), pagination);
    document.meta = { pagination };
    return stringify(document);
  },
});

/** Renders a list of resources that has no pages, the member `field` of the result. */
export const completeList = <Item, Field extends string>(
  resource: CompiledResource<Item, RequestContext>,
  field: Field,
): Rendering<ListWith<Field, Item>> => ({
  contentType: JSON_API,
  content: { form: "list", resources: [resource] },
  async render({ [field]: items }, { context, includes, onSecret }) {
    const { document, hasSecret } = await listDocument(resource, items, context, includes);
    if (hasSecret) onSecret();
    return stringify(document);
  },
});

/** Renders JSON that is not a JSON:API document. The content type is `application/json` without parameters. */
export const plainJson = <Schema extends z.ZodType>(
  schema: Schema,
): Rendering<z.infer<Schema>> => ({
  contentType: "application/json",
  content: { form: "json", schema },
  render: (value) => JSON.stringify(value),
});

/** Renders JSON text that is already complete. */
export const jsonText = (schema: z.ZodType): Rendering<string> => ({
  contentType: "application/json",
  content: { form: "json", schema },
  render: (text) => text,
});

/** Renders an HTML page. */
export const html: Rendering<string> = {
  contentType: "text/html; charset=utf-8",
  content: { form: "text" },
  headers: {
    "Content-Security-Policy":
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  },
  render: (text) => text,
};

/** Renders a text file of the reference page, which may load scripts, styles and data from this server only. */
export const asset = (contentType: string): Rendering<string> => ({
  contentType: `${contentType}; charset=utf-8`,
  content: { form: "text" },
  headers: {
    "Content-Security-Policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  },
  render: (text) => text,
});

/** Renders an image that never changes. Its headers forbid browsers to load or run anything while showing the image. */
export const svg: Rendering<string> = {
  contentType: "image/svg+xml; charset=utf-8",
  content: { form: "text" },
  headers: {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "public, max-age=31536000, immutable",
  },
  render: (text) => text,
};

/** Renders an Atom feed, which contains the address of its HTML page. */
export const atom = (feed: (address: string) => string): Rendering<unknown> => ({
  contentType: "application/atom+xml; charset=utf-8",
  content: { form: "text" },
  render: (_, { url }) => feed(url().replace(/\.atom.*$/s, "")),
});
