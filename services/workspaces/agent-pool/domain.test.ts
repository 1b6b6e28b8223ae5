import { AppError, Problems } from "@statehouse/errors";
import { expect, test } from "vitest";
import { applyAgentPoolSettings, newAgentPool } from "./domain.ts";

const now = new Date("2026-01-01T00:00:00Z");

function problemOfName(name: string): string | undefined {
  const problems = new Problems();
  const pool = newAgentPool("apool-1234567890123456", "org-1234567890123456", now);
  applyAgentPoolSettings(pool, { name }, { problems, now });
  try {
    problems.throwIfAny();
  } catch (error) {
    return error instanceof AppError ? error.message : String(error);
  }
  return undefined;
}

test.each([
  ["agents of München", undefined],
  ["", "Name can't be blank"],
  ["  ", "Name can't be blank"],
  ["a\0b", "Name is invalid"],
  ["a".repeat(256), "Name is too long (maximum is 255 characters)"],
])("the name %j: %s", (name, problem) => {
  expect(problemOfName(name)).toBe(problem);
});

test("a pool serves the whole organization by default", () => {
  const pool = newAgentPool("apool-1234567890123456", "org-1234567890123456", now);
  expect(pool.organizationScoped).toBe(true);
  const problems = new Problems();
  applyAgentPoolSettings(pool, { name: "a", organizationScoped: false }, { problems, now });
  expect(pool.organizationScoped).toBe(false);
});
