import { AppError } from "@statehouse/errors";
import { expect, test } from "vitest";
import { Problems } from "./problems.ts";
import { newProject } from "./project.ts";

function problemsOf(name: string, nameTaken = false): string[] {
  const problems = new Problems();
  const wanted = { id: "prj-1", organizationId: "org-1", name, description: null } as const;
  newProject(wanted, { nameTaken, problems }, new Date());
  try {
    problems.throwIfAny();
  } catch (error) {
    if (error instanceof AppError) return error.fields.map(({ detail }) => detail);
    throw error;
  }
  return [];
}

test.each(["abc", "Default Project", "a-b_c 9", "a".repeat(40)])("%s is accepted", (name) => {
  expect(problemsOf(name)).toEqual([]);
});

test.each([
  ["", "Name can't be blank"],
  ["ab", "Name is too short (minimum is 3 characters)"],
  ["a".repeat(41), "Name is too long (maximum is 40 characters)"],
  ["a/b", "Name is invalid"],
  ["prójekt", "Name is invalid"],
  [" abc", "Name is invalid"],
])("%j is refused: %s", (name, problem) => {
  expect(problemsOf(name)).toEqual([problem]);
});

test("a taken name is refused", () => {
  expect(problemsOf("abc", true)).toEqual(["Name has already been taken"]);
});
