import { expect, test } from "vitest";
import { countReport } from "./count-report.ts";

/** Creates a report of one file. `states` contains the state of each of its tests by name. */
function report(states: Record<string, string>, status = "passed"): string {
  const assertionResults = Object.entries(states).map(([fullName, state]) => ({
    fullName,
    status: state,
  }));
  const numPassedTests = Object.values(states).filter((state) => state === "passed").length;
  return JSON.stringify({
    numPassedTests,
    testResults: [{ name: "a.test.ts", status, assertionResults }],
  });
}

const count = (text: string | undefined, exitCode: number | null = 0) =>
  countReport("npm test", { report: text, exitCode, tail: "the end" });

test("tests that passed are counted", () => {
  expect(count(report({ a: "passed", b: "passed" }))).toEqual({
    passed: 2,
    failed: 0,
    problems: [],
  });
});

test("a test that failed is counted and named", () => {
  expect(count(report({ a: "passed", b: "failed" }, "failed"), 1)).toEqual({
    passed: 1,
    failed: 1,
    problems: ["Failed: a.test.ts: b"],
  });
});

test.each(["skipped", "pending", "todo"])("a test that is %s is a failure", (state) => {
  expect(count(report({ a: "passed", b: state }))).toEqual({
    passed: 1,
    failed: 1,
    problems: ["Not run: a.test.ts: b"],
  });
});

test("a file that does not load is a failure", () => {
  const { passed, failed, problems } = count(report({}, "failed"), 1);
  expect({ passed, failed }).toEqual({ passed: 0, failed: 2 });
  expect(problems).toEqual(["Failed: a.test.ts", "npm test: no test passed"]);
});

test.each([
  ["missing", undefined],
  ["empty", ""],
  ["cut off", '{"numPassedTests": 3, "testRes'],
  ["of another kind", "null"],
])("a report that is %s is a failure", (_, text) => {
  expect(count(text)).toEqual({ passed: 0, failed: 1, problems: ["npm test: no report\nthe end"] });
});

test("a report without tests is a failure", () => {
  expect(count(JSON.stringify({ numPassedTests: 0, testResults: [] }))).toEqual({
    passed: 0,
    failed: 1,
    problems: ["npm test: no test passed"],
  });
});

test.each([1, null])(
  "exit code %s that no test explains is a failure, shown by the output",
  (exitCode) => {
    expect(count(report({ a: "passed" }), exitCode)).toEqual({
      passed: 1,
      failed: 1,
      problems: [`npm test: exit code ${exitCode}, and no test failed:\nthe end`],
    });
  },
);
