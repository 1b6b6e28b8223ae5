import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { tagFilters } from "./filters-routes.ts";

const filters = (text: string) => tagFilters.read(new URLSearchParams(text));

test("key and value of one index form one filter; an empty value counts as absent", () => {
  proves("Workspace list/filter[tagged][i][key] and [value]");
  expect(
    filters(
      "filter[tagged][0][key]=env&filter[tagged][0][value]=prod&filter[tagged][1][key]=team" +
        "&filter[tagged][1][value]=&filter[tagged][7][value]=blue",
    ),
  ).toEqual([
    { key: "env", value: "prod" },
    { key: "team", value: "" },
    { key: "", value: "blue" },
  ]);
});

test.each([
  "",
  "filter[tagged][0][key]=",
  "filter[tagged]=a",
  "filter[tagged][x][key]=a",
  "TagBindings=",
])("%j is not a filter", (text) => {
  expect(filters(text)).toEqual([]);
});

test("more than ten filters are refused", () => {
  const many = Array.from({ length: 11 }, (_, i) => `filter[tagged][${i}][key]=k${i}`).join("&");
  expect(() => filters(many)).toThrow("filter[tagged]");
});
