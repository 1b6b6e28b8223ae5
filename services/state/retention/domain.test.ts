import { proves } from "@statehouse/testing/proves";
import { beforeEach, describe, expect, test } from "vitest";
import type { StateVersion } from "../state-version/domain.ts";
import { madeVersion } from "../test/made-version.ts";
import { newWorkspaceState } from "../workspace-state/domain.ts";
import {
  dueOf,
  isCurrentAnswer,
  type Retention,
  type RetentionDue,
  reasonToRetain,
} from "./domain.ts";

const now = new Date("2026-08-31T12:00:00Z");
const DAY = 86_400_000;
const daysAgo = (days: number) => new Date(now.getTime() - days * DAY);
const both = { policies: true, freeTier: true };

const retention = (more: Partial<Retention>): Retention => ({
  workspaceId: "ws-1",
  organizationId: "org-1",
  deleteOlderThanNDays: null,
  freeTier: false,
  ...more,
});

describe("due versions", () => {
  beforeEach(() => proves("State limits/free tier"));
  test.each([
    ["no policy", {}, both, undefined],
    ["days", { deleteOlderThanNDays: 30 }, both, ["policy", daysAgo(30)]],
    [
      "more days than since 1970",
      { deleteOlderThanNDays: 2 ** 31 - 1 },
      both,
      ["policy", new Date(0)],
    ],
    ["no days at all", { deleteOlderThanNDays: 0 }, both, undefined],
    [
      "days, in an edition without policies",
      { deleteOlderThanNDays: 30 },
      { policies: false, freeTier: true },
      undefined,
    ],
    [
      "the free tier, to the last day of a shorter month",
      { freeTier: true },
      both,
      ["free-tier", new Date("2026-02-28T12:00:00Z")],
    ],
    [
      "the free tier, in an edition without that rule",
      { freeTier: true },
      { policies: true, freeTier: false },
      undefined,
    ],
  ])("%s", (_, more, rules, expected) => {
    const due = dueOf(retention(more), rules, now);
    expect(due && [due.rule, due.before]).toEqual(expected);
  });
});

function held({ dropped = false, ...version }: Partial<StateVersion> & { dropped?: boolean } = {}) {
  const workspaceState = newWorkspaceState("ws-a");
  workspaceState.currentVersionId = "sv-9";
  workspaceState.currentPosition = 9n;
  workspaceState.droppedAt = dropped ? now : null;
  return { workspaceState, version: madeVersion({ createdAt: daysAgo(31), ...version }) };
}

const policy: RetentionDue = {
  workspaceId: "ws-1",
  organizationId: "org-1",
  rule: "policy",
  before: daysAgo(30),
};
const freeTier: RetentionDue = { ...policy, rule: "free-tier" };
const alone = { shared: false, startOfLast: undefined };

describe("a version that was due", () => {
  test.each([
    ["goes", {}, policy, alone, undefined],
    [
      "is deleted if it is soft-deleted",
      { status: "backing_data_soft_deleted" },
      policy,
      alone,
      undefined,
    ],
    ["is kept if it is current", { position: 9n }, policy, alone, "notOlderThanCurrent"],
    [
      "is kept if an unlock may make it current",
      { position: 10n },
      policy,
      alone,
      "notOlderThanCurrent",
    ],
    ["is kept while it waits for its bytes", { status: "pending" }, policy, alone, "noContents"],
    ["is kept if it was discarded", { status: "discarded" }, policy, alone, "noContents"],
    [
      "is unchanged if it is permanently deleted",
      { status: "backing_data_permanently_deleted" },
      policy,
      alone,
      "noContents",
    ],
    ["is kept on its last day", { createdAt: daysAgo(30) }, policy, alone, "young"],
    ["is kept if a copy shares its blob", {}, policy, { ...alone, shared: true }, "shared"],
    ["is ignored in a dropped workspace", { dropped: true }, policy, alone, "dropped"],
    ["is kept while its organization has fewer states", {}, freeTier, alone, "amongLast"],
    [
      "is kept if it is among the last states",
      {},
      freeTier,
      { shared: false, startOfLast: daysAgo(31) },
      "amongLast",
    ],
    [
      "is deleted if it is not among the last states",
      {},
      freeTier,
      { shared: false, startOfLast: daysAgo(30.5) },
      undefined,
    ],
  ] as const)("%s", (_, more, due, beside, expected) => {
    expect(reasonToRetain(held(more), due, beside)).toBe(expected);
  });
});

test("an answer is current while it is fresh and not older than the last announced version", () => {
  const answer = { retentions: [], version: 5n, requestedAt: now };
  const later = (ms: number) => new Date(now.getTime() + ms);
  expect(isCurrentAnswer(answer, 5n, later(29_000))).toBe(true);
  expect(isCurrentAnswer(answer, 4n, later(0))).toBe(true);
  expect(isCurrentAnswer(answer, 6n, later(0))).toBe(false);
  expect(isCurrentAnswer(answer, 5n, later(30_000))).toBe(false);
});
