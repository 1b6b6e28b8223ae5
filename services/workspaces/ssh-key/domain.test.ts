import { AppError, Problems } from "@statehouse/errors";
import { expect, test } from "vitest";
import { applySshKey, newSshKey } from "./domain.ts";

const now = new Date("2026-01-01T00:00:00Z");

function outcome(name: string, value: string | undefined): unknown {
  const problems = new Problems();
  const sshKey = newSshKey("sshkey-1", "org-1", now);
  const encryptColumn = (text: string) => `sealed ${text.length}`;
  applySshKey(sshKey, { name, value }, { encryptColumn, problems, now });
  try {
    problems.throwIfAny();
  } catch (error) {
    if (error instanceof AppError) return error.fields.map(({ detail }) => detail);
    throw error;
  }
  return sshKey.sealedValue;
}

test.each([
  ["deploy", "no key at all ✓", "sealed 15"],
  ["deploy", undefined, ""],
  ["", "", ["Name can't be blank", "Value can't be blank"]],
  ["a\0b", "x", ["Name is invalid"]],
  ["a".repeat(256), "x", ["Name is too long (maximum is 255 characters)"]],
])("the name %j with the value %j: %j", (name, value, expected) => {
  expect(outcome(name, value)).toEqual(expected);
});
