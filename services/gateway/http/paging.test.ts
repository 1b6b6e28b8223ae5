import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { optionalPage, page } from "./paging.ts";

const query = (text: string) => new URLSearchParams(text);

describe("a page", () => {
  test("is the first one with 20 items by default", () => {
    expect(page.read(query(""))).toEqual({ pageNumber: 1, pageSize: 20 });
  });
  test("has at most 100 items", () => {
    expect(page.read(query("page[size]=1000000000"))).toEqual({ pageNumber: 1, pageSize: 100 });
  });
  test("with number 0 is the first one", () => {
    proves("Real clients/5");
    expect(page.read(query("page[number]=0&page[size]=5"))).toEqual({ pageNumber: 1, pageSize: 5 });
    expect(() => page.read(query("page[size]=0"))).toThrow("page[size]");
  });
  test.each(["-1", "x", "1.5", "NaN", "1e3", " 1", "Infinity"])(
    "cannot be number or size %s",
    (value) => {
      for (const name of ["page[number]", "page[size]"]) {
        expect(() => page.read(query(`${name}=${value}`))).toThrow(name);
      }
    },
  );
  test("is optional for lists that are complete without paging", () => {
    expect(optionalPage.read(query("q=a"))).toBeUndefined();
    expect(optionalPage.read(query("page[size]=5"))).toEqual({ pageNumber: 1, pageSize: 5 });
  });
});
