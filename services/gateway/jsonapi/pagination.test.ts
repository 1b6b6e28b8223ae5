import { expect, test } from "vitest";
import { pageLinks, paginationOf } from "./pagination.ts";

test("an empty list has one page", () => {
  expect(paginationOf({ pageNumber: 1, pageSize: 20 }, 0)).toEqual({
    "current-page": 1,
    "page-size": 20,
    "prev-page": null,
    "next-page": null,
    "total-pages": 1,
    "total-count": 0,
  });
});

test("a page past the end links to the last one and keeps the correct total", () => {
  expect(paginationOf({ pageNumber: 9, pageSize: 20 }, 45)).toMatchObject({
    "current-page": 9,
    "prev-page": 3,
    "next-page": null,
    "total-pages": 3,
    "total-count": 45,
  });
});

test("links change only the page", () => {
  const links = pageLinks(
    "http://api/x?search%5Bname%5D=a&page%5Bnumber%5D=2",
    paginationOf({ pageNumber: 2, pageSize: 10 }, 25),
  );
  const query = (number: number) =>
    `http://api/x?search%5Bname%5D=a&page%5Bnumber%5D=${number}&page%5Bsize%5D=10`;
  expect(links).toEqual({
    self: query(2),
    first: query(1),
    prev: query(1),
    next: query(3),
    last: query(3),
  });
});
