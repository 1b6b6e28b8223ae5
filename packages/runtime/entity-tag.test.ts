import { expect, test } from "vitest";
import { isCurrentTag } from "./entity-tag.ts";

test.each([
  [undefined, false],
  ["", false],
  ["*", true],
  ['"a"', true],
  ['W/"a"', true],
  ['"b" , W/"a"', true],
  ['"b"', false],
  ["a", false],
])("If-None-Match: %s matches the tag of the content: %s", (header, isCurrent) => {
  expect(isCurrentTag(header, '"a"')).toBe(isCurrent);
  expect(isCurrentTag(header, 'W/"a"')).toBe(isCurrent);
});
