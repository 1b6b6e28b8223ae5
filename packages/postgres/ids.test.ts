import { expect, test } from "vitest";
import { newId } from "./ids.ts";

test("an id is its prefix and 16 letters and digits, and does not repeat", () => {
  const ids = Array.from({ length: 2000 }, () => newId("ws"));
  for (const id of ids) expect(id).toMatch(/^ws-[A-Za-z0-9]{16}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

test("no letter is favoured", () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 5000; i++) {
    for (const letter of newId("x").slice(2)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  const expected = (5000 * 16) / counts.size;
  for (const count of counts.values())
    expect(Math.abs(count - expected)).toBeLessThan(expected / 4);
});
