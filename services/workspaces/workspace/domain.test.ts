import { AppError } from "@statehouse/errors";
import { expect, test } from "vitest";
import { administeredWorkspaceSortKeys, sortOf } from "./domain.ts";

test.each([
  ["", { key: "name", descending: false }],
  ["name", { key: "name", descending: false }],
  ["-name", { key: "name", descending: true }],
  ["-current-run.created-at", { key: "current-run.created-at", descending: true }],
])("the order %j", (text, expected) => {
  expect(sortOf(administeredWorkspaceSortKeys, text)).toEqual(expected);
});

test.each(["latest-change-at", "--name"])("the order %j is unknown", (text) => {
  expect(() => sortOf(administeredWorkspaceSortKeys, text)).toThrow(AppError);
});
