import { expect, test } from "vitest";
import {
  looksLikeRunSecret,
  looksLikeSecret,
  runSecretOf,
  secretOf,
} from "../token/secret-domain.ts";
import { expiryOf } from "./domain.ts";

test("a token expires one lifetime from now", () => {
  const now = new Date("2026-01-01T00:00:00.000Z");
  expect(expiryOf(now, 86_400_000)).toEqual(new Date("2026-01-02T00:00:00.000Z"));
});

test("a run token's secret has a form of its own", () => {
  const random = new Uint8Array(32);
  expect(looksLikeRunSecret(runSecretOf(random))).toBe(true);
  expect(looksLikeSecret(runSecretOf(random))).toBe(false);
  expect(looksLikeRunSecret(secretOf(random))).toBe(false);
  expect(looksLikeRunSecret("sth_run_")).toBe(false);
});
