import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import {
  epochToForceUnlock,
  epochToUnlock,
  type Lockable,
  releaseLock,
  takeLock,
} from "./domain.ts";

const now = new Date("2026-01-02T03:04:05.678Z");
const later = new Date(now.getTime() + 60_000);
const alice = { type: "user", id: "user-alice" } as const;
const robots = { type: "team", id: "team-robots" } as const;

const unlocked = (): Lockable => ({ lock: null, deletionLock: null, lastLockEpoch: 0n });

function lockedBy(holder: typeof alice | typeof robots): Lockable {
  const workspace = unlocked();
  takeLock(workspace, holder, "apply", now);
  return workspace;
}

describe("locking", () => {
  test("locks an unlocked workspace for the caller, with reason and epoch", () => {
    const workspace = lockedBy(alice);
    const epoch = BigInt(now.getTime()) * 1000n;
    expect(workspace.lock).toEqual({ holder: alice, reason: "apply", since: now, epoch });
    expect(workspace.lastLockEpoch).toBe(epoch);
  });

  test("is refused on a locked workspace and names the holder, even for the holder itself", () => {
    const workspace = lockedBy(alice);
    for (const holder of [alice, robots]) {
      expect(() => takeLock(workspace, holder, "", now)).toThrow(
        expect.objectContaining({
          kind: "conflict",
          reason: "workspace_locked",
          message: "The workspace is locked by User user-alice.",
        }),
      );
    }
  });

  test("is refused during a safe delete and succeeds after its lease", () => {
    const workspace: Lockable = {
      lock: null,
      deletionLock: { epoch: 7n, until: later },
      lastLockEpoch: 7n,
    };
    expect(() => takeLock(workspace, alice, "", now)).toThrow(/locked while it is being deleted/);
    takeLock(workspace, alice, "", later);
    expect(workspace.deletionLock).toBeNull();
    expect(workspace.lastLockEpoch).toBeGreaterThan(7n);
  });

  test("increases the epoch, even if the clock does not advance", () => {
    const workspace = lockedBy(alice);
    const first = workspace.lastLockEpoch;
    releaseLock(workspace, first);
    takeLock(workspace, alice, "", now);
    expect(workspace.lastLockEpoch).toBe(first + 1n);
  });
});

describe("unlocking", () => {
  test("by the holder succeeds", () => {
    const workspace = lockedBy(alice);
    releaseLock(workspace, epochToUnlock(workspace, alice));
    expect(workspace.lock).toBeNull();
  });

  test("by another holder is refused with the text that clients match", () => {
    expect(() => epochToUnlock(lockedBy(alice), robots)).toThrow(/is locked by User user-alice/);
    expect(() => epochToUnlock(lockedBy(robots), alice)).toThrow(/is locked by Team team-robots/);
    const run: Lockable = unlocked();
    takeLock(run, { type: "run", id: "run-1" }, "", now);
    expect(() => epochToUnlock(run, alice)).toThrow(/is locked by Run run-1/);
  });

  test("an unlocked workspace is refused", () => {
    proves("Workspace lock/unlocked, unlock");
    expect(() => epochToUnlock(unlocked(), alice)).toThrow(/already unlocked/);
  });

  test("does not release a lock of a later epoch or one that was released", () => {
    const workspace = lockedBy(alice);
    const sealed = epochToUnlock(workspace, alice);
    releaseLock(workspace, sealed);
    expect(() => releaseLock(workspace, sealed)).toThrow(/already unlocked/);
    takeLock(workspace, alice, "", later);
    expect(() => releaseLock(workspace, sealed)).toThrow(/already unlocked/);
    expect(workspace.lock?.epoch).toBe(workspace.lastLockEpoch);
  });
});

describe("force-unlocking", () => {
  test("releases the lock of any holder", () => {
    const workspace = lockedBy(robots);
    releaseLock(workspace, epochToForceUnlock(workspace));
    expect(workspace.lock).toBeNull();
  });

  test("an unlocked workspace is refused", () => {
    proves("Workspace lock/unlocked, force-unlock");
    expect(() => epochToForceUnlock(unlocked())).toThrow(/already unlocked/);
  });
});
