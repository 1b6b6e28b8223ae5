import { expect, test } from "vitest";
import { touch } from "./version-domain.ts";

test("a row receives its next version", () => {
  const row = { version: 1770091506789000n };
  expect(touch(row, new Date("2026-02-03T04:05:06.789Z"))).toBe(1770091506789001n);
  expect(row.version).toBe(1770091506789001n);
});
