import { badRequest } from "@statehouse/errors";
import { changelog, changelogFeed, changelogPage } from "../changelog/changelog.ts";
import { readPage } from "../http/paging.ts";
import { parameter } from "../http/query.ts";
import { atom, html, list } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { changelogEntryResource } from "../resources/changelog-entries.ts";

const DATE = /^\d{4}-\d{2}-\d{2}$/;

function readDate(query: URLSearchParams, name: string): string | undefined {
  const value = parameter(query, name);
  if (value !== undefined && !(DATE.test(value) && !Number.isNaN(Date.parse(value)))) {
    throw badRequest("filter", `${name} must be a date: YYYY-MM-DD.`);
  }
  return value;
}

function readEdition(query: URLSearchParams): string | undefined {
  const value = parameter(query, "filter[edition]");
  if (value !== undefined && value !== "self-hosted" && value !== "hosted") {
    throw badRequest("filter", "filter[edition] must be self-hosted or hosted.");
  }
  return value;
}

/** The changelog is public: no token is required. */
export const changelogRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/changelog",
    summary: "List the changes of the interface, newest first",
    success: [200, list(changelogEntryResource)],
    failures: [400],
    credentials: "none",
    handle: ({ query }) => {
      const page = readPage(query);
      const found = changelog({
        from: readDate(query, "filter[from]"),
        to: readDate(query, "filter[to]"),
        edition: readEdition(query),
      });
      const start = (page.number - 1) * page.size;
      return { items: found.slice(start, start + page.size), page, totalCount: found.length };
    },
  }),
  route({
    method: "GET",
    path: "/changelog",
    under: "root",
    summary: "Show the changes of the interface as a page",
    success: [200, html],
    failures: [],
    credentials: "none",
    handle: () => changelogPage(),
  }),
  route({
    method: "GET",
    path: "/changelog.atom",
    under: "root",
    summary: "The changes of the interface as an Atom feed",
    success: [200, atom(changelogFeed)],
    failures: [],
    credentials: "none",
    handle: () => undefined,
  }),
];
