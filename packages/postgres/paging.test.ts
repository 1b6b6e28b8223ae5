import { expect, test } from "vitest";
import { offsetOf, pageOf } from "./paging.ts";

test.each([
  ["absent values have their default", { pageNumber: 0, pageSize: 0 }, { number: 1, size: 20 }],
  ["given values are used", { pageNumber: 3, pageSize: 7 }, { number: 3, size: 7 }],
  ["a page has at most 100 rows", { pageNumber: 1, pageSize: 101 }, { number: 1, size: 100 }],
])("%s", (_, request, page) => {
  expect(pageOf(request)).toEqual(page);
});

test("the offset is the number of rows on earlier pages", () => {
  expect(offsetOf({ number: 3, size: 20 })).toBe(40);
});
