import { expect, test } from "vitest";
import { remainingMs, runWithDeadline, withoutDeadline } from "./deadline.ts";

test("there is no deadline until one is set", () => {
  expect(remainingMs()).toBeUndefined();
});

test("the deadline follows the call through awaits", async () => {
  await runWithDeadline(Date.now() + 5000, async () => {
    await Promise.resolve();
    expect(remainingMs()).toBeGreaterThan(4000);
    expect(remainingMs()).toBeLessThanOrEqual(5000);
  });
});

test("an inner deadline can only shorten the outer one, and no time is left after it", () => {
  runWithDeadline(Date.now() + 1000, () => {
    runWithDeadline(Date.now() + 60_000, () => expect(remainingMs()).toBeLessThanOrEqual(1000));
    runWithDeadline(Date.now() - 1, () => expect(remainingMs()).toBe(0));
  });
});

test("work that outlives its request has no deadline", () => {
  runWithDeadline(Date.now() + 1000, () => {
    expect(withoutDeadline(remainingMs)).toBeUndefined();
  });
});
