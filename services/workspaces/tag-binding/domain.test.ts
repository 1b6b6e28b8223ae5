import { AppError, Problems } from "@statehouse/errors";
import { expect, test } from "vitest";
import {
  checkTagBindingCount,
  checkTagBindings,
  mergeTagBindings,
  type TagBindingInput,
} from "./domain.ts";

function problemsOf(requested: TagBindingInput[]): string[] {
  const problems = new Problems();
  checkTagBindings(requested, problems);
  return fieldsOf(problems);
}

function fieldsOf(problems: Problems): string[] {
  try {
    problems.throwIfAny();
  } catch (error) {
    if (error instanceof AppError) return error.fields.map((f) => `${f.field}: ${f.detail}`);
    throw error;
  }
  return [];
}

const binding = (key: string, value = "") => ({ key, value });
const many = (count: number, value: string) =>
  Array.from({ length: count }, (_, index) => binding(`key${index}`, value));

test.each([
  binding("env", "prod"),
  binding("a:b_c.d=e+f-g@h"),
  binding("k".repeat(128), "v".repeat(256)),
])("%j is accepted", (requested) => {
  expect(problemsOf([requested])).toEqual([]);
});

test.each<[TagBindingInput, string]>([
  [binding(""), "tagBindings[0].key: Key can't be blank"],
  [binding("a b"), "tagBindings[0].key: Key is invalid"],
  [binding("a\0"), "tagBindings[0].key: Key is invalid"],
  [binding("k".repeat(129)), "tagBindings[0].key: Key is too long (maximum is 128 characters)"],
  [binding("hc:a"), "tagBindings[0].key: Key has a reserved prefix"],
  [binding("hcp:a"), "tagBindings[0].key: Key has a reserved prefix"],
  [binding("HCP:a"), "tagBindings[0].key: Key has a reserved prefix"],
  [binding("a", "b c"), "tagBindings[0].value: Value is invalid"],
  [
    binding("a", "v".repeat(257)),
    "tagBindings[0].value: Value is too long (maximum is 256 characters)",
  ],
])("%j is refused", (requested, problem) => {
  expect(problemsOf([requested])).toEqual([problem]);
});

test("ten bindings with a value and many more flat tags are allowed", () => {
  const countProblems = (bindings: TagBindingInput[]) => {
    const problems = new Problems();
    checkTagBindingCount(mergeTagBindings([], bindings), problems);
    return fieldsOf(problems);
  };
  expect(countProblems(many(10, "v"))).toEqual([]);
  expect(countProblems(many(250, ""))).toEqual([]);
  expect(countProblems(many(251, ""))).toEqual(["tagBindings: Tags are too many (maximum is 250)"]);
  expect(countProblems(many(11, "v"))).toEqual([
    "tagBindings: Tag bindings are too many (maximum is 10)",
  ]);
});

test("a request can have ten bindings, with or without values", () => {
  expect(problemsOf(many(10, ""))).toEqual([]);
  expect(problemsOf(many(11, ""))).toEqual([
    "tagBindings: Tag bindings are too many (maximum is 10 in a request)",
  ]);
});

test("a duplicate key is refused together with all other problems", () => {
  expect(problemsOf([binding("a"), binding("a", "b c")])).toEqual([
    "tagBindings[1].key: Key is given twice",
    "tagBindings[1].value: Value is invalid",
  ]);
});

test("given bindings replace existing ones with the same key, and all other bindings remain", () => {
  expect([...mergeTagBindings([binding("a", "1"), binding("b")], [binding("a")])]).toEqual([
    ["a", ""],
    ["b", ""],
  ]);
});
