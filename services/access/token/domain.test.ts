import { expect, test } from "vitest";
import { problemsOf } from "../test/problems-of.ts";
import { checkToken, defaultExpiry, type Token } from "./domain.ts";
import { hashOf, looksLikeSecret, SECRET_BYTES, secretOf } from "./secret-domain.ts";

const at = new Date("2026-02-03T04:05:06.789Z");
const user = { type: "user", slot: "described" } as const;
const later = new Date(at.getTime() + 1);

const check = (
  token: Pick<Token, "description" | "expiredAt"> & Partial<Pick<Token, "type" | "slot">>,
  maxDays?: number,
  maxTtlMs?: bigint,
) =>
  problemsOf((problems) => checkToken({ ...user, ...token }, problems, { at, maxDays, maxTtlMs }));

test("a token expires after two years by default, even if created on a leap day", () => {
  expect(defaultExpiry(at)).toEqual(new Date("2028-02-03T04:05:06.789Z"));
  expect(defaultExpiry(new Date("2028-02-29T00:00:00Z"))).toEqual(new Date("2030-03-01T00:00:00Z"));
});

test.each([
  ["the present", at, "Expired at must be in the future"],
  ["the past", new Date(0), "Expired at must be in the future"],
  ["not a date", new Date(Number.NaN), "Expired at is invalid"],
  ["the year 10000", new Date("+010000-01-01T00:00:00Z"), "Expired at is invalid"],
])("%s is not a valid expiry", (_, expiredAt, detail) => {
  expect(check({ description: "", expiredAt })).toEqual([{ field: "expiredAt", detail }]);
});

test.each(["\0", "x".repeat(1001)])("a description that cannot be stored is invalid", (text) => {
  expect(check({ description: text, expiredAt: later })).toEqual([
    { field: "description", detail: "Description is invalid" },
  ]);
});

test("any other description is accepted", () => {
  expect(check({ description: "läptop 🚀\n", expiredAt: later })).toEqual([]);
});

test("a secret contains all its random bytes and is recognized by its form", () => {
  const secret = secretOf(new Uint8Array(SECRET_BYTES).fill(255));
  expect(secret).toBe(`sth_${"_".repeat(42)}8`);
  expect(looksLikeSecret(secret)).toBe(true);
  for (const text of ["", secret.slice(1), `${secret}A`, `${secret}\n`]) {
    expect(looksLikeSecret(text)).toBe(false);
  }
});

test("a hash is SHA-256 in hex", () => {
  expect(hashOf("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("the installation limits the lifetime of a token", () => {
  expect(defaultExpiry(at, { maxDays: 30 })).toEqual(new Date("2026-03-05T04:05:06.789Z"));
  expect(defaultExpiry(at, { maxDays: 5000 })).toEqual(defaultExpiry(at));
  const late = { description: "", expiredAt: new Date("2026-03-06T00:00:00Z") };
  expect(check(late, 30)).toEqual([
    { field: "expiredAt", detail: "Expired at must be within 30 days" },
  ]);
  expect(check(late, 31)).toEqual([]);
});

test("a token in the described slot needs no description", () => {
  const blank = { type: "team", slot: "described", description: " ", expiredAt: later } as const;
  expect(check(blank)).toEqual([]);
  expect(check({ ...blank, slot: "plain" })).toEqual([]);
});

test("the organization limits the lifetime of its tokens: its maximum is the default, too", () => {
  const maxTtlMs = 3_600_000n;
  const hour = new Date("2026-02-03T05:05:06.789Z");
  expect(defaultExpiry(at, { maxTtlMs })).toEqual(hour);
  expect(defaultExpiry(at, { maxTtlMs, maxDays: 30 })).toEqual(hour);
  expect(defaultExpiry(at, { maxTtlMs: 5n * 31_536_000_000n })).toEqual(
    new Date("2031-02-02T04:05:06.789Z"),
  );
  expect(defaultExpiry(at, { maxTtlMs: 315_360_000_000_000n })).toEqual(
    new Date("9999-12-31T23:59:59.999Z"),
  );
  const team = { type: "team", slot: "plain", description: "" } as const;
  expect(check({ ...team, expiredAt: hour }, undefined, maxTtlMs)).toEqual([]);
  const late = { ...team, expiredAt: new Date(hour.getTime() + 1) };
  expect(check(late, undefined, maxTtlMs)).toEqual([
    {
      field: "expiredAt",
      detail:
        "Expired at 2026-02-03T05:05:06.790Z is too late; expected at most 2026-02-03T05:05:06.789Z, the organization's maximum of 3600000 ms for team tokens.",
    },
  ]);
  const [trails] = check({ ...late, type: "organization", slot: "audit-trails" }, 30, maxTtlMs);
  expect(trails?.detail).toContain("for audit-trails tokens");
});
