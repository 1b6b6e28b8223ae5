/** The requested part of a list, under the names that the messages of the services use. */
export interface Page {
  /** From 1. */
  pageNumber: number;
  pageSize: number;
}

export interface PaginationMeta {
  "current-page": number;
  "page-size": number;
  "prev-page": number | null;
  "next-page": number | null;
  "total-pages": number;
  "total-count": number;
}

export interface PageLinks {
  self: string;
  first: string;
  prev: string | null;
  next: string | null;
  last: string;
}

/** Returns the `pagination` member for a page of a list of `total` items. An empty list has one empty page. */
export function paginationOf(
  { pageNumber: number, pageSize: size }: Page,
  total: number,
): PaginationMeta {
  const pages = Math.max(1, Math.ceil(total / size));
  return {
    "current-page": number,
    "page-size": size,
    "prev-page": number > 1 ? Math.min(number - 1, pages) : null,
    "next-page": number < pages ? number + 1 : null,
    "total-pages": pages,
    "total-count": total,
  };
}

/** Returns the links of a page. They repeat `url` and its query and change only the paging parameters. */
export function pageLinks(url: string, pagination: PaginationMeta): PageLinks {
  const [path, query = ""] = url.split("?", 2);
  const parameters = new URLSearchParams(query);
  const at = (number: number) => {
    parameters.set("page[number]", String(number));
    parameters.set("page[size]", String(pagination["page-size"]));
    return `${path}?${parameters}`;
  };
  const { "prev-page": prev, "next-page": next } = pagination;
  return {
    self: at(pagination["current-page"]),
    first: at(1),
    prev: prev === null ? null : at(prev),
    next: next === null ? null : at(next),
    last: at(pagination["total-pages"]),
  };
}
