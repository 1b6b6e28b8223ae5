import { expect, test } from "vitest";
import { subjectProblems } from "./commits.ts";

test.each([
  "state: reject uploads after the lock was released",
  "state, workspaces: read every list and its total in one statement",
  "local-services: use the standard words",
])("'%s' is accepted", (subject) => {
  expect(subjectProblems(subject)).toEqual([]);
});

test.each([
  ["Reject uploads", "it does not begin with a scope, as in `state: …`"],
  ["State: reject uploads", "it does not begin with a scope, as in `state: …`"],
  ["state:reject uploads", "it does not begin with a scope, as in `state: …`"],
  [`state: ${"a".repeat(66)}`, "it has 73 characters; at most 72"],
  ["state: reject uploads.", "it ends with a full stop"],
])("'%s' is not", (subject, problem) => {
  expect(subjectProblems(subject)).toEqual([problem]);
});
