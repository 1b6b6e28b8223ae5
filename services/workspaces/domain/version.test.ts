import { expect, test } from "vitest";
import { nextVersion } from "./version.ts";

const now = new Date("2026-01-02T03:04:05.678Z");

test("a version is the time in microseconds", () => {
  expect(nextVersion(0n, now)).toBe(1767323045678000n);
});

test("a version grows though the clock stands still or runs back", () => {
  const first = nextVersion(0n, now);
  expect(nextVersion(first, now)).toBe(first + 1n);
  expect(nextVersion(first, new Date(0))).toBe(first + 1n);
});
