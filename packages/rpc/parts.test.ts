import fc from "fast-check";
import { expect, test } from "vitest";
import { MessageTooLarge } from "./error.ts";
import { allInPages, inPages, inParts } from "./parts.ts";

/** Answers as long as not more than `most` are asked for, or found. */
const limited = (most: number, asked: number) => {
  if (asked > most) throw new MessageTooLarge("too large");
};

test("a page in parts is the page", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        total: fc.integer({ min: 0, max: 250 }),
        size: fc.integer({ min: 1, max: 100 }),
        number: fc.integer({ min: 1, max: 5 }),
        most: fc.integer({ min: 1, max: 100 }),
      }),
      async ({ total, size, number, most }) => {
        const all = Array.from({ length: total }, (_, index) => index);
        const ask = async (page: { number: number; size: number }) => {
          const items = all.slice((page.number - 1) * page.size, page.number * page.size);
          limited(most, items.length);
          return { items, totalCount: total };
        };
        expect(await inPages({ number, size }, ask)).toEqual({
          items: all.slice((number - 1) * size, number * size),
          totalCount: total,
        });
      },
    ),
  );
});

test("all of a list, page by page, is all of it", async () => {
  for (const total of [0, 1, 10, 57, 200]) {
    const all = Array.from({ length: total }, (_, index) => index);
    const ask = async ({ number, size }: { number: number; size: number }) => {
      const items = all.slice((number - 1) * size, number * size);
      limited(3, items.length);
      return { items, totalCount: total };
    };
    const askAll = async () => {
      limited(50, total);
      return { items: all, totalCount: total };
    };
    expect(await allInPages(askAll, ask)).toEqual({ items: all, totalCount: total });
  }
});

test("keys in parts are all keys, in their order", async () => {
  const keys = Array.from({ length: 37 }, (_, index) => index);
  for (const most of [1, 2, 5, 36, 37, 100]) {
    const found = await inParts(keys, async (some) => {
      limited(most, some.length);
      return some;
    });
    expect(found).toEqual(keys);
  }
  expect(await inParts([], async () => [])).toEqual([]);
});

test("one that is too large by itself, and every other failure, is passed on", async () => {
  const tooLarge = async () => limited(0, 1) as never;
  await expect(inParts([1, 2], tooLarge)).rejects.toThrow(MessageTooLarge);
  await expect(inPages({ number: 1, size: 6 }, tooLarge)).rejects.toThrow(MessageTooLarge);
  let asked = 0;
  const broken = async () => {
    asked += 1;
    throw new Error("broken");
  };
  await expect(inParts([1, 2], broken)).rejects.toThrow("broken");
  expect(asked).toBe(1);
});
