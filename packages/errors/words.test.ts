import { expect, test } from "vitest";
import { inWords, quoted } from "./words.ts";

test.each([
  ["name", "Name"],
  ["workingDirectory", "Working directory"],
  ["vcsRepo.oauthTokenId", "Oauth token id"],
  ["auto-apply", "Auto apply"],
  ["workspace-access.run-tasks", "Run tasks"],
  ["permissions[run-tasks]", "Run tasks"],
  ["permissions[workspace-access.run-tasks]", "Run tasks"],
  ["tagBindings[2].key", "Key"],
])("the field %s is %s in words", (field, words) => {
  expect(inWords(field)).toBe(words);
});

test("a quoted value is cut at 40 characters", () => {
  expect(quoted("prod")).toBe("'prod'");
  expect(quoted("a".repeat(40))).toBe(`'${"a".repeat(40)}'`);
  expect(quoted("ä".repeat(41))).toBe(`'${"ä".repeat(40)}…'`);
});

test("control characters of a quoted value are escaped", () => {
  expect(quoted("a\nb\u0000\u202e")).toBe("'a\\u{a}b\\u{0}\\u{202e}'");
});

test("a field that a client has named is cut and escaped in words", () => {
  expect(inWords(`permissions[${"a".repeat(81)}]`)).toBe(`A${"a".repeat(79)}…`);
  expect(inWords("permissions[a\nb]")).toBe("A\\u{a}b");
});
