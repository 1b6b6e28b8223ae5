import { AppError, Problems } from "@statehouse/errors";
import { expect, test } from "vitest";
import { applyDataRetention, type DataRetentionInput, newDataRetentionPolicy } from "./domain.ts";

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
  const { kind, deleteOlderThanNDays: days, stateVersionsDeleteAfterNDays: ofStates } = policy;
  return ofStates === null ? [kind, days] : [kind, days, ofStates];
}

const older = (days?: number, stateVersionsDeleteAfterNDays?: number | null) => ({
  kind: "delete-older",
  deleteOlderThanNDays: days,
  stateVersionsDeleteAfterNDays,
});
const never = { ...older(), kind: "dont-delete" };

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
  ["no kind", [{ ...older(1), kind: "" }], ["Type is invalid"]],
  ["days of state versions", [older(30, 7)], ["delete-older", 30, 7]],
  ["days of state versions only", [older(undefined, 7)], ["delete-older", null, 7]],
  ["days of state versions as they were", [older(30, 7), older(20)], ["delete-older", 20, 7]],
  ["days of state versions removed", [older(30, 7), older(20, null)], ["delete-older", 20]],
  ["another kind than days of state versions", [older(30, 7), never], ["dont-delete", null]],
  [
    "the only days removed",
    [older(undefined, 7), older(undefined, null)],
    ["Delete older than n days is required"],
  ],
  [
    "0 days of both",
    [older(0, 0)],
    [
      "Delete older than n days must be above 0",
      "State versions delete after n days must be above 0",
    ],
  ],
])("%s", (_, inputs, expected) => {
  expect(outcome(...inputs)).toEqual(expected);
});
