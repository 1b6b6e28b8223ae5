import { expect, test } from "vitest";
import { createBodyMemory } from "./body-memory.ts";

test("all principals together hold at most the total", () => {
  const memory = createBodyMemory({ total: 100, largestBody: 10 });
  const leases = ["a", "b", "c", "d"].map((name) => memory.lease(name));
  for (const lease of leases) expect(lease.take(25)).toBe(true);
  using fifth = memory.lease("e");
  expect(fifth.take(1)).toBe(false);
  leases[0]?.[Symbol.dispose]();
  expect(fifth.take(25)).toBe(true);
});

test("one principal holds at most its share, with all its requests", () => {
  const memory = createBodyMemory({ total: 100, largestBody: 10 });
  using first = memory.lease("a");
  expect(first.take(20)).toBe(true);
  using second = memory.lease("a");
  expect(second.take(6)).toBe(false);
  expect(second.take(5)).toBe(true);
  expect(memory.lease("b").take(25)).toBe(true);
});

test("the largest body is accepted, whatever the total", () => {
  const memory = createBodyMemory({ total: 100, largestBody: 1000 });
  expect(memory.lease("a").take(1000)).toBe(true);
});
