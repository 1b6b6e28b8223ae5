import { AppError, Problems } from "@statehouse/errors";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import {
  type AutoDestroy,
  type AutoDestroySettings,
  applyAutoDestroy,
  durationMs,
  noAutoDestroy as never,
  noteActivity,
  takeDueMoment,
} from "./domain.ts";

const now = new Date("2026-01-01T00:00:00Z");
const HOUR = 3_600_000;
const later = (hours: number) => new Date(now.getTime() + hours * HOUR);

function apply(settings: AutoDestroySettings, from = never): AutoDestroy | string[] {
  const problems = new Problems();
  const workspace = { ...from };
  applyAutoDestroy(workspace, settings, problems, now);
  try {
    problems.throwIfAny();
  } catch (error) {
    if (error instanceof AppError) return error.fields.map((f) => `${f.field}: ${f.detail}`);
    throw error;
  }
  return workspace;
}

test.each([
  ["1h", HOUR],
  ["14d", 14 * 24 * HOUR],
  ["9999d", 9999 * 24 * HOUR],
  ["0001h", HOUR],
])("%s is a valid duration", (text, ms) => {
  proves("Workspace/auto-destroy-activity-duration");
  expect(durationMs(text)).toBe(ms);
});

test.each(["", "0d", "0000h", "14", "d", "12345h", "1w", "1 d", "-1d", "1.5h", "1d2h", "1D"])(
  "%j is not a valid duration",
  (text) => {
    proves(
      "Workspace/auto-destroy-activity-duration",
      "Workspace limits/auto-destroy-activity-duration",
    );
    expect(apply({ autoDestroyActivityDuration: text })).toEqual([
      "autoDestroyActivityDuration: Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')",
    ]);
  },
);

test.each([
  "",
  "soon",
  "2026-01-01",
  "2026-13-01T00:00:00Z",
  "2026-02-30T00:00:00Z",
  "1767225600",
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59-01:00",
])("%j is not a timestamp, and both problems are reported", (text) => {
  const problems = apply({ autoDestroyAt: text, autoDestroyActivityDuration: "x" });
  expect(problems).toHaveLength(2);
});

test("a timestamp is stored as given, and null removes it", () => {
  const set = apply({ autoDestroyAt: "2026-02-01T10:00:00+02:00" });
  expect(set).toEqual({
    autoDestroyAt: new Date("2026-02-01T08:00:00Z"),
    autoDestroyActivityDuration: null,
    inheritedActivityDuration: null,
    inheritsProjectAutoDestroy: false,
  });
  expect(apply({ autoDestroyAt: null }, set as AutoDestroy)).toEqual(never);
  expect(apply({}, set as AutoDestroy)).toEqual(set);
});

test("a duration starts when it is set and again at each activity", () => {
  const workspace = apply({ autoDestroyActivityDuration: "2h" }) as AutoDestroy;
  expect(workspace.autoDestroyAt).toEqual(later(2));
  noteActivity(workspace, later(1));
  expect(workspace.autoDestroyAt).toEqual(later(3));
  // Setting the same value again does not restart the duration.
  expect(apply({ autoDestroyActivityDuration: "2h" }, workspace)).toEqual(workspace);
  expect(apply({ autoDestroyActivityDuration: null }, workspace)).toEqual(never);
});

test("a timestamp given with a duration applies until the next activity", () => {
  const settings = { autoDestroyAt: later(9).toISOString(), autoDestroyActivityDuration: "1h" };
  const workspace = apply(settings) as AutoDestroy;
  expect(workspace.autoDestroyAt).toEqual(later(9));
  noteActivity(workspace, later(2));
  expect(workspace.autoDestroyAt).toEqual(later(3));
});

test("a timestamp replaces a duration, and a duration replaces a timestamp", () => {
  const lasting = apply({ autoDestroyActivityDuration: "1h" }) as AutoDestroy;
  const fixed = apply({ autoDestroyAt: later(9).toISOString() }, lasting) as AutoDestroy;
  expect(fixed).toMatchObject({ autoDestroyAt: later(9), autoDestroyActivityDuration: null });
  const again = { autoDestroyAt: null, autoDestroyActivityDuration: "2h" };
  expect(apply(again, fixed)).toMatchObject({
    autoDestroyAt: later(2),
    autoDestroyActivityDuration: "2h",
  });
});

test("no timestamp and no word of a duration clears both, and the project's duration applies again", () => {
  proves("Real clients/2");
  const own = {
    ...(apply({ autoDestroyActivityDuration: "1h" }) as AutoDestroy),
    inheritedActivityDuration: "5h",
  };
  expect(apply({ autoDestroyAt: null }, own)).toEqual({
    autoDestroyAt: later(5),
    autoDestroyActivityDuration: null,
    inheritedActivityDuration: "5h",
    inheritsProjectAutoDestroy: true,
  });
  const inheriting = { ...never, autoDestroyAt: later(3), inheritedActivityDuration: "5h" };
  expect(apply({ autoDestroyAt: null }, inheriting)).toEqual(inheriting);
});

test("a due schedule ends once; a future one does not end", () => {
  const workspace = { ...never, autoDestroyAt: later(5) };
  expect(takeDueMoment(workspace, later(4))).toBeUndefined();
  expect(takeDueMoment(workspace, later(5))).toEqual(later(5));
  expect(takeDueMoment(workspace, later(6))).toBeUndefined();
  expect(workspace).toEqual(never);
});

test("a workspace with its own settings does not inherit, regardless of the request", () => {
  for (const inheritsProjectAutoDestroy of [undefined, true, false]) {
    const own = apply({ autoDestroyActivityDuration: "2h", inheritsProjectAutoDestroy });
    expect(own).toMatchObject({ inheritsProjectAutoDestroy: false });
    const fixed = apply({ autoDestroyAt: later(5).toISOString(), inheritsProjectAutoDestroy });
    expect(fixed).toMatchObject({ inheritsProjectAutoDestroy: false });
  }
});

test("a workspace without its own settings inherits unless the request says false", () => {
  const own = apply({ autoDestroyActivityDuration: "2h" }) as AutoDestroy;
  const none = { autoDestroyAt: null, autoDestroyActivityDuration: null };
  expect(apply(none, own)).toEqual(never);
  const alone = { ...never, inheritsProjectAutoDestroy: false };
  expect(apply({ ...none, inheritsProjectAutoDestroy: false }, own)).toEqual(alone);
  expect(apply({ inheritsProjectAutoDestroy: false })).toEqual(alone);
  expect(apply({}, alone)).toEqual(alone);
  expect(apply({ inheritsProjectAutoDestroy: true }, alone)).toEqual(never);
});

test("activity changes nothing without a duration", () => {
  const fixed = { ...never, autoDestroyAt: later(5) };
  noteActivity(fixed, later(4));
  expect(fixed.autoDestroyAt).toEqual(later(5));
});
