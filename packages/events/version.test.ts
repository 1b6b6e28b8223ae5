import { expect, test } from "vitest";
import { nextVersion } from "./version.ts";

const at = new Date("2026-02-03T04:05:06.789Z");
const micros = 1770091506789000n;

test.each([
  ["the clock, when it is ahead", 0n, micros],
  ["one more, when the clock stands", micros, micros + 1n],
  ["one more, when the clock went back", micros + 5n, micros + 6n],
])("the next version is %s", (_, previous, next) => {
  expect(nextVersion(previous, at)).toBe(next);
});
