import { describe, expect, test } from "vitest";
import { madeVersion } from "../test/made-version.ts";
import { sealLock } from "./lock-sealing.ts";
import { makeCurrent, noteLatestChange, type StateVersion } from "./state-version.ts";
import { WorkspaceState } from "./workspace-state.ts";

const now = new Date("2026-01-01T00:00:00Z");
const later = new Date(now.getTime() + 1000);

/** A snapshot, whose window is not over. */
const version = (position: bigint, more: Partial<StateVersion> = {}) =>
  madeVersion({ position, intermediate: true, expiresAt: later, ...more });

const sealing = { epoch: 10n, discardPending: false, now };

describe("sealing", () => {
  test("promotes the newest finalized intermediate version, once", () => {
    const workspace = new WorkspaceState("ws-a");
    const [older, newer] = [version(1n), version(2n)];
    expect(sealLock(workspace, [newer, older], sealing).promoted).toBe(newer);
    expect(workspace).toMatchObject({ currentVersionId: "sv-2", sealedEpoch: 10n });
    expect(newer.intermediate).toBe(false);
    const { revision } = workspace;
    expect(sealLock(workspace, [], sealing)).toEqual({ discarded: [], promoted: undefined });
    expect(workspace.revision).toBe(revision);
  });

  test("keeps a newer version current", () => {
    const workspace = new WorkspaceState("ws-a");
    makeCurrent(workspace, version(5n), now);
    expect(sealLock(workspace, [version(4n)], sealing).promoted).toBeUndefined();
    expect(workspace.currentVersionId).toBe("sv-5");
  });

  test("leaves later epochs alone", () => {
    const workspace = new WorkspaceState("ws-a");
    const next = version(1n, { lockEpoch: 11n, status: "pending" });
    sealLock(workspace, [next], { ...sealing, discardPending: true });
    expect(next.status).toBe("pending");
  });

  test("never lowers the sealed epoch", () => {
    const workspace = new WorkspaceState("ws-a");
    workspace.sealedEpoch = 12n;
    sealLock(workspace, [], sealing);
    expect(workspace.sealedEpoch).toBe(12n);
  });

  test("waits for what is pending, changing nothing, unless told to discard it", () => {
    const workspace = new WorkspaceState("ws-a");
    const pending = version(1n, { status: "pending" });
    expect(() => sealLock(workspace, [pending], sealing)).toThrow("is still pending");
    expect(workspace.sealedEpoch).toBe(0n);
    sealLock(workspace, [pending], { ...sealing, discardPending: true });
    expect(pending.status).toBe("discarded");
  });
});

test("an older version whose upload ends last does not become current", () => {
  const workspace = new WorkspaceState("ws-a");
  expect(makeCurrent(workspace, version(2n), now)).toBe(true);
  expect(makeCurrent(workspace, version(1n), now)).toBe(false);
  expect(workspace.currentVersionId).toBe("sv-2");
});

test("nor does the time of the latest change go back", () => {
  const workspace = new WorkspaceState("ws-a");
  expect(noteLatestChange(workspace, version(2n, { createdAt: later }))).toBe(true);
  expect(noteLatestChange(workspace, version(1n))).toBe(false);
  expect(workspace.latestChangeAt).toBe(later);
});
