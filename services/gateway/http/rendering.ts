import type { z } from "zod";
import { documentOf, listDocument } from "../jsonapi/document.ts";
import { stringify } from "../jsonapi/json-text.ts";
import { type Page, pageLinks, paginationOf } from "../jsonapi/pagination.ts";
import type { CompiledResource } from "../jsonapi/resource.ts";
import type { Rendering, RequestContext } from "./route.ts";

const JSON_API = "application/vnd.api+json";

/** Renders one resource. */
export const one = <Item>(
  resource: CompiledResource<Item, RequestContext>,
): Rendering<Item | undefined> => ({
  contentType: JSON_API,
  content: { form: "one", resources: [resource] },
  async render(item, { context, includes, onSecret }) {
    if (item === undefined) throw new Error(`no ${resource.type} in the service's response`);
    if (!includes) {
      if (resource.hasSecret?.(item)) onSecret();
      return stringify({ data: resource.toObject(item, context) });
    }
    const { document, hasSecret } = await documentOf(resource, item, context, includes);
    if (hasSecret) onSecret();
    return stringify(document);
  },
});

/** Renders one resource whose type depends on the item. */
export const oneOf = <Item>(
  resources: readonly CompiledResource<Item, RequestContext>[],
  resourceOf: (item: Item) => CompiledResource<Item, RequestContext>,
): Rendering<Item | undefined> => ({
  contentType: JSON_API,
  content: { form: "one", resources },
  render(item, rendered) {
    if (item === undefined) throw new Error("no resource in the service's response");
    return one(resourceOf(item)).render(item, rendered);
  },
});

/** One page of a list, with the number of items in the whole list. */
export interface Listed<Item> {
  items: readonly Item[];
  page: Page;
  totalCount: number;
}

/** Renders a page of a list of resources. */
export const list = <Item>(
  resource: CompiledResource<Item, RequestContext>,
): Rendering<Listed<Item>> => ({
  contentType: JSON_API,
  content: { form: "page", resources: [resource] },
  async render({ items, page, totalCount }, { context, includes, url, onSecret }) {
    const { document, hasSecret } = await listDocument(resource, items, context, includes);
    if (hasSecret) onSecret();
    const pagination = paginationOf(page, totalCount);
    document.links = pageLinks(url(), pagination);
    document.meta = { pagination };
    return stringify(document);
  },
});

/** Renders a list of resources that has no pages. */
export const completeList = <Item>(
  resource: CompiledResource<Item, RequestContext>,
): Rendering<{ items: readonly Item[] }> => ({
  contentType: JSON_API,
  content: { form: "list", resources: [resource] },
  async render({ items }, { context, includes, onSecret }) {
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
