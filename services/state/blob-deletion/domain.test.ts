import { expect, test } from "vitest";
import { interruptionBetween, keptUntil } from "./domain.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const noon = new Date("2026-11-22T12:00:00Z");
const at = (ms: number) => new Date(noon.getTime() + ms);
const retention = { blobDeletionDelayMs: 7 * DAY, sweepGraceMs: DAY };

test.each([
  ["regular heartbeats", { database: "a", beatAt: at(-MINUTE) }, undefined],
  [
    "a heartbeat of a replica whose clock is ahead",
    { database: "a", beatAt: at(MINUTE) },
    undefined,
  ],
  ["a database that jumped back", { database: "a", beatAt: at(-HOUR) }, at(-HOUR)],
  ["another timeline", { database: "b", beatAt: at(-MINUTE) }, at(-MINUTE)],
  ["the first heartbeat", undefined, new Date(0)],
] as const)("%s", (_, last, since) => {
  const interruption = interruptionBetween(last, { database: "a", beatAt: noon });
  expect(interruption).toEqual(since && { since, until: noon });
});

test("bytes without a row remain for the delay after their upload began", () => {
  expect(keptUntil(noon, [], retention)).toEqual(at(7 * DAY));
});

test("without a delay they remain for the grace period, restored or not", () => {
  const interruption = { since: at(-HOUR), until: at(HOUR) };
  const none = { ...retention, blobDeletionDelayMs: 0 };
  expect(keptUntil(noon, [interruption], none)).toEqual(at(DAY));
});

test("bytes whose row a restore may have removed remain for the delay after the restore", () => {
  const interruption = { since: at(-HOUR), until: at(3 * DAY) };
  for (const started of [noon, at(-HOUR - DAY), at(3 * DAY)]) {
    expect(keptUntil(started, [interruption], retention)).toEqual(at(10 * DAY));
  }
  const [before, after] = [at(-HOUR - DAY - 1), at(3 * DAY + 1)];
  expect(keptUntil(before, [interruption], retention).getTime()).toBe(before.getTime() + 7 * DAY);
  expect(keptUntil(after, [interruption], retention).getTime()).toBe(after.getTime() + 7 * DAY);
});

test("the delay starts at the latest of several interruptions", () => {
  const interruptions = [5, 3, 4].map((days) => ({ since: at(-HOUR), until: at(days * DAY) }));
  expect(keptUntil(noon, interruptions, retention)).toEqual(at(12 * DAY));
});
