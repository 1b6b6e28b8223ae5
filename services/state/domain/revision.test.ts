import { expect, test } from "vitest";
import { nextRevision } from "./revision.ts";

const now = new Date("2026-01-01T00:00:00Z");
const micros = 1_767_225_600_000_000n;

test("it is the time in µs, and grows when the clock does not", () => {
  expect(nextRevision(0n, now)).toBe(micros);
  expect(nextRevision(micros, now)).toBe(micros + 1n);
  expect(nextRevision(micros + 99n, now)).toBe(micros + 100n);
});
