import { expect, test } from "vitest";
import { offsetOf, page } from "./paging.ts";

test.each([
  { number: 1, size: 20, total: 0, prevPage: null, nextPage: null, totalPages: 1 },
  { number: 1, size: 20, total: 20, prevPage: null, nextPage: null, totalPages: 1 },
  { number: 1, size: 20, total: 21, prevPage: null, nextPage: 2, totalPages: 2 },
  { number: 2, size: 20, total: 41, prevPage: 1, nextPage: 3, totalPages: 3 },
  { number: 9, size: 20, total: 21, prevPage: 2, nextPage: null, totalPages: 2 },
])("page $number of $total rows by $size", ({ number, size, total, ...expected }) => {
  expect(page({ number, size }, total)).toEqual({
    ...expected,
    currentPage: number,
    pageSize: size,
    totalCount: total,
  });
});

test("the offset skips the pages before", () => {
  expect(offsetOf({ number: 3, size: 20 })).toBe(40);
});
