import { proves } from "@statehouse/testing/proves";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  average,
  isNewer,
  type MeasuredRun,
  noPerformance,
  performanceOf,
  WINDOW,
  withoutRun,
  withRun,
} from "./domain.ts";

const at = (ms: number) => new Date(1_700_000_000_000 + ms);

const run = (values: Partial<MeasuredRun> = {}): MeasuredRun => ({
  id: "run-1",
  status: "applied",
  createdAt: at(0),
  policyCheckFailed: false,
  planMs: 1000,
  applyMs: 3000,
  ...values,
});

test("an errored run counts as a failure and has no durations of phases that it did not reach", () => {
  proves(
    "Workspace run attributes/apply-duration-average, plan-duration-average, policy-check-failures, run-failures",
  );
  const failed = run({ status: "errored", policyCheckFailed: true, planMs: 500, applyMs: null });
  expect(performanceOf([run(), { ...failed, id: "run-2" }])).toEqual({
    runs: 2,
    runFailures: 1,
    policyCheckFailures: 1,
    planRuns: 2,
    planMs: 1500,
    applyRuns: 1,
    applyMs: 3000,
  });
});

test("only the newest thirty runs count", () => {
  proves(
    "Workspace run attributes/they cover the past 30 runs that errored or were applied",
    "Workspace limits/performance metrics window",
  );
  const runs = Array.from({ length: WINDOW + 5 }, (_, index) =>
    run({ id: `run-${index}`, createdAt: at(index), planMs: index }),
  );
  const { runs: counted, planMs } = performanceOf(runs);
  expect(counted).toBe(30);
  expect(planMs).toBe(Array.from({ length: 30 }, (_, index) => index + 5).reduce((a, b) => a + b));
});

test("of two runs that began at the same time exactly one is newer", () => {
  const [one, other] = [run({ id: "run-a" }), run({ id: "run-b" })];
  expect(isNewer(one, other)).toBe(!isNewer(other, one));
});

describe("an average", () => {
  test("of no runs is null", () => expect(average(0, 0)).toBeNull());
  test("is a whole number", () => expect(average(10, 3)).toBe(3n));
});

test("adding and removing a run restores the previous sums", () => {
  const measured = fc.record({
    id: fc.constant("run-x" as const),
    status: fc.constantFrom("applied" as const, "errored" as const),
    createdAt: fc.constant(at(0)),
    policyCheckFailed: fc.boolean(),
    planMs: fc.option(fc.nat()),
    applyMs: fc.option(fc.nat()),
  });
  fc.assert(
    fc.property(fc.array(measured), (runs) => {
      const sums = runs.reduce(withRun, noPerformance);
      expect(runs.toReversed().reduce(withoutRun, sums)).toEqual(noPerformance);
    }),
  );
});
