import { AppError, Problems } from "@statehouse/errors";
import { expect, test } from "vitest";
import { checkText, checkTexts } from "./text-domain.ts";

function problemsOf(check: (problems: Problems) => void): string[] {
  const problems = new Problems();
  check(problems);
  try {
    problems.throwIfAny();
  } catch (error) {
    if (error instanceof AppError) return error.fields.map((f) => `${f.field}: ${f.detail}`);
  }
  return [];
}

test.each<[string, string[]]>([
  ["abc", []],
  ["abcd", ["workingDirectory: Working directory is too long (maximum is 3 characters)"]],
  ["a\0", ["workingDirectory: Working directory is invalid"]],
])("the text %j has the problems %j", (text, expected) => {
  expect(problemsOf((problems) => checkText("workingDirectory", text, 3, problems))).toEqual(
    expected,
  );
});

test.each<[string[], string[]]>([
  [["a", "abc"], []],
  [["a", "b", "c"], ["triggerPatterns: Trigger patterns has too many entries (maximum is 2)"]],
  [["abcd"], ["triggerPatterns: Trigger patterns is too long (maximum is 3 characters)"]],
  [["\0"], ["triggerPatterns: Trigger patterns is invalid"]],
])("the list %j has the problems %j", (texts, expected) => {
  const most = { entries: 2, characters: 3 };
  expect(problemsOf((problems) => checkTexts("triggerPatterns", texts, most, problems))).toEqual(
    expected,
  );
});
