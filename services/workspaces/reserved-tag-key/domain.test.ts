import { AppError, Problems } from "@statehouse/errors";
import { expect, test } from "vitest";
import { applyReservedTagKey, disallowedOverrides, newReservedTagKey } from "./domain.ts";

const now = new Date("2026-01-01T00:00:00Z");
const reserve = (key: string): string[] => {
  const problems = new Problems();
  const reserved = newReservedTagKey("rtk-1", "org-1", now);
  applyReservedTagKey(reserved, { key, disableOverrides: undefined }, { problems, now });
  try {
    problems.throwIfAny();
  } catch (error) {
    if (error instanceof AppError) return error.fields.map(({ detail }) => detail);
    throw error;
  }
  return [];
};

test.each([
  ["cost-center", []],
  ["", ["Key can't be blank"]],
  ["a b", ["Key is invalid"]],
  ["hcp:a", ["Key has a reserved prefix"]],
])("reserving %j has the problems %j", (key, expected) => {
  expect(reserve(key)).toEqual(expected);
});

const fixed = [{ key: "cost", value: "42" }];

test.each([
  ["no binding of the key", [], [["zone", "a"]], []],
  ["the same value", [], [["cost", "42"]], []],
  ["another value", [], [["cost", "43"]], ["cost"]],
  ["a flat tag of the key", [], [["cost", ""]], ["cost"]],
  ["another value that existed before", [{ key: "cost", value: "43" }], [["cost", "43"]], []],
  [
    "a changed value that existed before",
    [{ key: "cost", value: "43" }],
    [["cost", "44"]],
    ["cost"],
  ],
] as const)("%s", (_, current, after, refused) => {
  expect(disallowedOverrides(current, new Map(after), fixed)).toEqual(refused);
});
