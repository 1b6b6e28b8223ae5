import { expect, test } from "vitest";
import { countValues } from "./count-values.ts";

const count = (text: string, limit = 1000) => countValues(new TextEncoder().encode(text), limit);

test.each([
  ["a number", "1", 1],
  ["a list", "[1,2,3]", 4],
  ["an object", '{"a":1,"b":[2,3]}', 5],
  ["a text with the characters that separate values", '"a,b,[{,"', 1],
  ["an escaped quote", String.raw`["a\",b,",1]`, 3],
  ["an escaped backslash at the end of a text", String.raw`["a\\",1]`, 3],
  ["an escaped backslash and an escaped quote", String.raw`["a\\\",b",1]`, 3],
  ["letters of several bytes", '["ä,ö,🚀",1]', 3],
  ["a text without an end", '["a,b,c', 2],
  ["nothing", "", 1],
])("counts the values of %s", (_, text, expected) => {
  expect(count(text)).toBe(expected);
});

test("stops counting above the limit", () => {
  expect(count(`[${"1,".repeat(500)}1]`, 10)).toBe(11);
});
