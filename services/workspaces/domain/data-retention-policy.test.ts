import { AppError, Problems } from "@statehouse/errors";
import { expect, test } from "vitest";
import {
  applyDataRetention,
  type DataRetentionInput,
  newDataRetentionPolicy,
} from "./data-retention-policy.ts";

const now = new Date("2026-01-01T00:00:00Z");

function outcome(...inputs: DataRetentionInput[]): unknown {
  const problems = new Problems();
  const policy = newDataRetentionPolicy("drp-1", "site", now);
  for (const input of inputs) applyDataRetention(policy, input, { problems, now });
  try {
    problems.throwIfAny();
  } catch (error) {
    if (error instanceof AppError) return error.fields.map(({ detail }) => detail);
    throw error;
  }
  return [policy.kind, policy.deleteOlderThanNDays];
}

const older = (days?: number) => ({ kind: "delete-older", deleteOlderThanNDays: days });
const never = { kind: "dont-delete", deleteOlderThanNDays: undefined };

test.each([
  ["days", [older(30)], ["delete-older", 30]],
  ["never", [never], ["dont-delete", null]],
  ["other days", [older(30), older(7)], ["delete-older", 7]],
  ["days as they were", [older(30), older()], ["delete-older", 30]],
  ["another kind", [older(30), never], ["dont-delete", null]],
  ["the first kind again", [never, older(1)], ["delete-older", 1]],
  ["no days", [older()], ["Delete older than n days is required"]],
  [
    "no days with the other kind",
    [older(30), never, older()],
    ["Delete older than n days is required"],
  ],
  ["0 days", [older(0)], ["Delete older than n days must be above 0"]],
  ["no kind", [{ kind: "", deleteOlderThanNDays: 1 }], ["Type is invalid"]],
])("%s", (_, inputs, expected) => {
  expect(outcome(...inputs)).toEqual(expected);
});
