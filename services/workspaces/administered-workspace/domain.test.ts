import { expect, test } from "vitest";
import { administeredWorkspaceSortOf } from "./domain.ts";

test.each([
  ["", { key: "name", descending: false }],
  ["name", { key: "name", descending: false }],
  ["-name", { key: "name", descending: true }],
  ["-current-run.created-at", { key: "current-run.created-at", descending: true }],
  ["latest-change-at", undefined],
  ["--name", undefined],
])("the order %j", (text, expected) => {
  expect(administeredWorkspaceSortOf(text)).toEqual(expected);
});
