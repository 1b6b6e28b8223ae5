import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { makeCurrent, noteLatestChange, type StateVersion } from "../state-version/domain.ts";
import { madeVersion } from "../test/made-version.ts";
import { newWorkspaceState } from "../workspace-state/domain.ts";
import { endLockEpoch } from "./domain.ts";

const now = new Date("2026-01-01T00:00:00Z");
const later = new Date(now.getTime() + 1000);

/** A snapshot whose upload window has not ended. */
const version = (position: bigint, more: Partial<StateVersion> = {}) =>
  madeVersion({ position, intermediate: true, expiresAt: later, ...more });

const sealing = { epoch: 10n, discardPending: false, now };

describe("sealing a lock epoch", () => {
  test("promotes the newest finalized intermediate version, once", () => {
    proves("State under a lock/unlock by the locker");
    const workspace = newWorkspaceState("ws-a");
    const [older, newer] = [version(1n), version(2n)];
    expect(endLockEpoch(workspace, [newer, older], sealing).promoted).toBe(newer);
    expect(workspace).toMatchObject({ currentVersionId: "sv-2", sealedEpoch: 10n });
    expect(newer.intermediate).toBe(false);
    const { revision } = workspace;
    expect(endLockEpoch(workspace, [], sealing)).toEqual({ discarded: [], promoted: undefined });
    expect(workspace.revision).toBe(revision);
  });

  test("keeps a newer version current", () => {
    const workspace = newWorkspaceState("ws-a");
    makeCurrent(workspace, version(5n), now);
    expect(endLockEpoch(workspace, [version(4n)], sealing).promoted).toBeUndefined();
    expect(workspace.currentVersionId).toBe("sv-5");
  });

  test("does not affect later epochs", () => {
    const workspace = newWorkspaceState("ws-a");
    const next = version(1n, { lockEpoch: 11n, status: "pending" });
    endLockEpoch(workspace, [next], { ...sealing, discardPending: true });
    expect(next.status).toBe("pending");
  });

  test("never lowers the sealed epoch", () => {
    const workspace = newWorkspaceState("ws-a");
    workspace.sealedEpoch = 12n;
    endLockEpoch(workspace, [], sealing);
    expect(workspace.sealedEpoch).toBe(12n);
  });

  test("is refused while a version is pending, unless pending versions are discarded", () => {
    proves("State under a lock/unlock while one is not finalized");
    const workspace = newWorkspaceState("ws-a");
    const pending = version(1n, { status: "pending" });
    expect(() => endLockEpoch(workspace, [pending], sealing)).toThrow("is still pending");
    expect(workspace.sealedEpoch).toBe(0n);
    endLockEpoch(workspace, [pending], { ...sealing, discardPending: true });
    expect(pending.status).toBe("discarded");
  });
});

test("an older version whose upload ends last does not become current", () => {
  proves("State version creation rules/the current version is");
  const workspace = newWorkspaceState("ws-a");
  expect(makeCurrent(workspace, version(2n), now)).toBe(true);
  expect(makeCurrent(workspace, version(1n), now)).toBe(false);
  expect(workspace.currentVersionId).toBe("sv-2");
});

test("the time of the latest change never decreases", () => {
  const workspace = newWorkspaceState("ws-a");
  expect(noteLatestChange(workspace, version(2n, { createdAt: later }))).toBe(true);
  expect(noteLatestChange(workspace, version(1n))).toBe(false);
  expect(workspace.latestChangeAt).toBe(later);
});
