import { documentOf, listDocument } from "../jsonapi/document.ts";
import { type Page, pageLinks, paginationOf } from "../jsonapi/pagination.ts";
import type { CompiledResource } from "../jsonapi/resource.ts";
import type { Rendering, RequestContext } from "./route.ts";

const JSON_API = "application/vnd.api+json";

/** Renders one resource. */
export const one = <Item>(
  resource: CompiledResource<Item, RequestContext>,
): Rendering<Item | undefined> => ({
  contentType: JSON_API,
  async render(item, { context, includes, onSecret }) {
    if (item === undefined) throw new Error(`no ${resource.type} in the service's response`);
    if (!includes) {
      if (resource.hasSecret?.(item)) onSecret();
      return JSON.stringify({ data: resource.toObject(item, context) });
    }
    const { document, hasSecret } = await documentOf(resource, item, context, includes);
    if (hasSecret) onSecret();
    return JSON.stringify(document);
  },
});

/** Renders one resource whose type depends on the item. */
export const oneOf = <Item>(
  resourceOf: (item: Item) => CompiledResource<Item, RequestContext>,
): Rendering<Item | undefined> => ({
  contentType: JSON_API,
  render(item, rendered) {
    if (item === undefined) throw new Error("no resource in the service's response");
    return one(resourceOf(item)).render(item, rendered);
  },
});

/** A page of a list; without `page`, the complete list. */
export interface Listed<Item> {
  items: readonly Item[];
  page?: Page | undefined;
  totalCount?: number;
}

/** Renders a list of resources, with paging if the list has pages. */
export const list = <Item>(
  resource: CompiledResource<Item, RequestContext>,
): Rendering<Listed<Item>> => ({
  contentType: JSON_API,
  async render({ items, page, totalCount = items.length }, { context, includes, url, onSecret }) {
    const { document, hasSecret } = await listDocument(resource, items, context, includes);
    if (hasSecret) onSecret();
    if (page) {
      const pagination = paginationOf(page, totalCount);
      document.links = pageLinks(url(), pagination);
      document.meta = { pagination };
    }
    return JSON.stringify(document);
  },
});

/** Renders JSON that is not a JSON:API document. The content type is `application/json` without parameters. */
export const plainJson: Rendering<object> = {
  contentType: "application/json",
  render: (value) => JSON.stringify(value),
};

/** Renders an HTML page. */
export const html: Rendering<string> = {
  contentType: "text/html; charset=utf-8",
  headers: {
    "Content-Security-Policy":
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  },
  render: (text) => text,
};

/** Renders an Atom feed, which contains the address of its HTML page. */
export const atom = (feed: (address: string) => string): Rendering<unknown> => ({
  contentType: "application/atom+xml; charset=utf-8",
  render: (_, { url }) => feed(url().replace(/\.atom.*$/s, "")),
});
