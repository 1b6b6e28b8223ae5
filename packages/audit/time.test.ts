import { expect, test } from "vitest";
import { microsOfText, textOfMicros } from "./time.ts";

test.each([
  ["2026-01-02", "2026-01-02T00:00:00.000000Z"],
  ["2026-01-02T03:04Z", "2026-01-02T03:04:00.000000Z"],
  ["2026-01-02T03:04:05.6Z", "2026-01-02T03:04:05.600000Z"],
  ["2026-01-02T03:04:05.678901Z", "2026-01-02T03:04:05.678901Z"],
  ["2026-01-02T03:04:05.678901234+02:00", "2026-01-02T01:04:05.678901Z"],
])("%s is %s", (text, formatted) => {
  expect(textOfMicros(microsOfText(text) ?? 0)).toBe(formatted);
});

test.each(["", "yesterday", "2026", "2026-13-01", "2026-01-02T03:04:05"])(
  "'%s' is not a time",
  (text) => {
    expect(microsOfText(text)).toBeUndefined();
  },
);
