import { expect, test } from "vitest";
import { isId, newId, parseId } from "./ids.ts";

test("an id consists of its prefix and 16 random letters and digits", () => {
  const ids = Array.from({ length: 2000 }, () => newId("ws"));
  for (const id of ids) expect(id).toMatch(/^ws-[A-Za-z0-9]{16}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

test("all letters are equally likely", () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 5000; i++) {
    for (const letter of newId("x").slice(2)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  const expected = (5000 * 16) / counts.size;
  for (const count of counts.values())
    expect(Math.abs(count - expected)).toBeLessThan(expected / 4);
});

test("an id consists of its prefix and 1 to 64 letters and digits", () => {
  expect(isId("ws", newId("ws"))).toBe(true);
  expect(isId("run", "run-7")).toBe(true);
  expect(parseId("run", "run-7")).toBe("run-7");
  expect(isId("ws", `ws-${"a".repeat(64)}`)).toBe(true);
  for (const text of [
    "",
    "ws",
    "ws-",
    "run-7",
    "wsx-7",
    "ws-a-b",
    "ws-ä",
    `ws-${"a".repeat(65)}`,
  ]) {
    expect(isId("ws", text), text).toBe(false);
    expect(parseId("ws", text), text).toBeUndefined();
  }
});
