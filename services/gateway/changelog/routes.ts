import { badRequest } from "@statehouse/errors";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { choice, parameter } from "../http/query.ts";
import { atom, html, list } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { changelog, changelogFeed, changelogPage } from "./list-resource.ts";
import { changelogEntryResource } from "./resource.ts";

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Declares a parameter that is a date; undefined if absent. Reading throws `badRequest` if the value is not a date. */
const date = (name: string, description: string) => ({
  parameters: [{ name, description, schema: z.iso.date() }],
  read(query: URLSearchParams): string | undefined {
    const value = parameter(query, name);
    if (value !== undefined && !(DATE.test(value) && !Number.isNaN(Date.parse(value)))) {
      throw badRequest("filter", `${name} must be a date: YYYY-MM-DD.`);
    }
    return value;
  },
});

/** The changelog is public: no token is required. */
export const changelogRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/changelog",
    summary: "List the changes of the interface, newest first",
    query: {
      page,
      from: date("filter[from]", "Only changes of this day or later."),
      to: date("filter[to]", "Only changes of this day or earlier."),
      edition: choice(
        "filter[edition]",
        ["self-hosted", "hosted"],
        "Only changes of this edition.",
        "filter",
      ),
    },
    success: [200, list(changelogEntryResource, "entries")],
    failures: [400],
    credentials: "none",
    handle: ({ query }) => {
      const { from, to, edition, page } = query;
      const found = changelog({ from, to, edition: edition || undefined });
      const start = (page.pageNumber - 1) * page.pageSize;
      return { entries: found.slice(start, start + page.pageSize), totalCount: found.length };
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
    summary: "Show the changes of the interface as an Atom feed",
    success: [200, atom(changelogFeed)],
    failures: [],
    credentials: "none",
    handle: () => undefined,
  }),
];
