import { AppError } from "@statehouse/errors";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { documentOf, listDocument } from "./document.ts";
import { parseInclude } from "./include.ts";
import { target, toMany, toOne, toOneOf } from "./relationship.ts";
import { type CompiledResource, resource } from "./resource.ts";

interface Book {
  id: string;
  author: string;
  keeper?: { type: "person" | "shelf"; id: string };
}
interface Person {
  id: string;
  town: string;
}
interface Named {
  id: string;
}
interface Chapter extends Named {
  book: string;
}
/** Records every call of a loader with its keys. */
interface Calls {
  calls: [string, readonly string[]][];
}

const named = (type: string): CompiledResource<Named, Calls> =>
  resource<Named, Calls>({
    type,
    id: ({ id }) => id,
    attributes: {},
    loadMany: async (keys, { calls }) => {
      calls.push([type, keys]);
      return keys.filter((id) => id !== "gone").map((id) => ({ id }));
    },
  });

const towns = named("towns");
const shelves = named("shelves");
const chapters = resource<Chapter, Calls>({
  type: "chapters",
  id: ({ id }) => id,
  attributes: {},
});
const people = resource<Person, Calls>({
  type: "people",
  id: ({ id }) => id,
  attributes: {},
  relationships: {
    town: toOneOf({ type: "towns", idOf: ({ town }) => town, resource: () => towns }),
  },
  loadMany: async (keys, { calls }) => {
    calls.push(["people", keys]);
    return keys.map((id) => ({ id, town: "t1" }));
  },
});
const books = resource<Book, Calls>({
  type: "books",
  id: ({ id }) => id,
  attributes: { title: [z.string(), ({ id }) => `Book ${id}`] },
  relationships: {
    author: toOneOf({ type: "people", idOf: ({ author }) => author, resource: () => people }),
    "kept-by": toOne({
      linkage: ({ keeper }) =>
        keeper ? { type: keeper.type === "person" ? "people" : "shelves", id: keeper.id } : null,
      targets: [
        target(
          () => people,
          ({ keeper }) => (keeper?.type === "person" ? keeper.id : undefined),
        ),
        target(
          () => shelves,
          ({ keeper }) => (keeper?.type === "shelf" ? keeper.id : undefined),
        ),
      ],
    }),
    chapters: toMany({
      link: ({ id }) => `/books/${id}/chapters`,
      resource: () => chapters,
      keyOf: ({ id }) => id,
      loadFor: async (keys, { calls }: Calls): Promise<Chapter[]> => {
        calls.push(["chapters", keys]);
        return keys.flatMap((book) => [
          { id: `${book}-c1`, book },
          { id: `${book}-c2`, book },
        ]);
      },
      parentKeyOf: ({ book }) => book,
    }),
  },
});

const allowed = ["author", "author.town", "kept_by", "chapters"];
const names = (objects: readonly { type: string; id: string }[] | undefined) =>
  objects?.map(({ type, id }) => `${type}/${id}`);

describe("include names", () => {
  test("are read with their nested paths", () => {
    const tree = parseInclude("author.town, chapters", allowed);
    expect([...tree.keys()]).toEqual(["author", "chapters"]);
    expect([...(tree.get("author")?.keys() ?? [])]).toEqual(["town"]);
  });
  test("accept a hyphen instead of an underscore", () => {
    proves("JSON:API/included");
    expect([...parseInclude("kept-by", allowed).keys()]).toEqual(["kept_by"]);
  });
  test("that are unknown return 400 and name the include parameter", () => {
    for (const value of ["nothing", "author,nothing", "town", "chapters.author", "__proto__"]) {
      try {
        parseInclude(value, allowed);
        expect.unreachable(value);
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
        expect(error).toMatchObject({
          kind: "badRequest",
          message: expect.stringContaining("include parameter"),
        });
      }
    }
  });
});

describe("includes", () => {
  test("make one call for each name of a level, for any number of parents", async () => {
    proves("JSON:API/included");
    const context: Calls = { calls: [] };
    const items = Array.from({ length: 50 }, (_, n) => ({ id: `b${n}`, author: `p${n % 3}` }));
    const { document } = await listDocument(
      books,
      items,
      context,
      parseInclude("author.town,chapters", allowed),
    );
    expect(context.calls.map(([type]) => type)).toEqual(["people", "chapters", "towns"]);
    expect(context.calls[0]?.[1]).toEqual(["p0", "p1", "p2"]);
    expect(context.calls[2]?.[1]).toEqual(["t1"]);
    expect(names(document.included)?.slice(0, 3)).toEqual(["people/p0", "people/p1", "people/p2"]);
    expect(names(document.included)?.filter((name) => name === "towns/t1")).toHaveLength(1);
    expect(document.included).toHaveLength(3 + 100 + 1);
  });

  test("with several target types make one call for each type", async () => {
    const context: Calls = { calls: [] };
    const { document } = await listDocument(
      books,
      [
        { id: "b1", author: "p1", keeper: { type: "person", id: "p9" } },
        { id: "b2", author: "p1", keeper: { type: "shelf", id: "s1" } },
        { id: "b3", author: "p1" },
      ],
      context,
      parseInclude("kept_by", allowed),
    );
    expect(context.calls).toEqual([
      ["people", ["p9"]],
      ["shelves", ["s1"]],
    ]);
    expect(names(document.included)).toEqual(["people/p9", "shelves/s1"]);
  });

  test("add linkages that are known only after loading", async () => {
    const context: Calls = { calls: [] };
    const { document } = await documentOf(
      books,
      { id: "b1", author: "p1" },
      context,
      parseInclude("chapters", allowed),
    );
    expect(document.data).toMatchObject({
      relationships: {
        chapters: {
          links: { related: "/books/b1/chapters" },
          data: [
            { type: "chapters", id: "b1-c1" },
            { type: "chapters", id: "b1-c2" },
          ],
        },
      },
    });
  });

  test("omit resources that the caller may not read", async () => {
    const context: Calls = { calls: [] };
    const { document } = await documentOf(
      books,
      { id: "b1", author: "p1", keeper: { type: "shelf", id: "gone" } },
      context,
      parseInclude("kept_by", allowed),
    );
    expect(document.included).toEqual([]);
  });

  test("make no call and add no member if none is requested", async () => {
    proves("JSON:API/included");
    const context: Calls = { calls: [] };
    const { document } = await documentOf(books, { id: "b1", author: "p1" }, context);
    expect(context.calls).toEqual([]);
    expect(document).not.toHaveProperty("included");
  });
});
