import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { type Lockable, takeLock } from "../workspace-lock/domain.ts";
import { endDeletionLock, refusalToDelete, takeDeletionLock } from "./domain.ts";

const now = new Date("2026-01-02T03:04:05.678Z");
const alice = { type: "user", id: "user-alice" } as const;
const unlocked = (): Lockable => ({ lock: null, deletionLock: null, lastLockEpoch: 0n });

test("a safe delete of a locked workspace is refused and names the holder", () => {
  const workspace = unlocked();
  takeLock(workspace, alice, "", now);
  expect(() => takeDeletionLock(workspace, now)).toThrow(/locked by User user-alice/);
});

test("a second safe delete is refused during the lease of the first", () => {
  const workspace = unlocked();
  takeDeletionLock(workspace, now);
  expect(() => takeDeletionLock(workspace, now)).toThrow(/locked/);
});

test("a deletion ends its own lock", () => {
  const workspace = unlocked();
  endDeletionLock(workspace, takeDeletionLock(workspace, now));
  expect(workspace.deletionLock).toBeNull();
});

test("a deletion whose lease has ended fails if another caller has the lock", () => {
  const workspace = unlocked();
  const epoch = takeDeletionLock(workspace, now);
  const end = workspace.deletionLock?.until ?? now;
  takeLock(workspace, alice, "", end);
  expect(() => endDeletionLock(workspace, epoch)).toThrow(/locked by User user-alice/);
  workspace.lock = null;
  expect(() => endDeletionLock(workspace, epoch)).toThrow(
    expect.objectContaining({ kind: "conflict", reason: "workspace_locked" }),
  );
});

test("the texts of a refusal distinguish resources and processing, and do not mention a lock", () => {
  proves("Workspace errors/safe delete");
  const managing = refusalToDelete({ count: 3, processed: true })?.message ?? "";
  expect(managing).toMatch(/3 resources/);
  expect(managing).not.toMatch(/locked|being processed/);
  expect(refusalToDelete({ count: 1, processed: true })?.message).toMatch(/1 resource;/);
  const processing = refusalToDelete({ count: 0, processed: false })?.message ?? "";
  expect(processing).toMatch(/being processed/);
  expect(processing).not.toMatch(/locked/);
  expect(refusalToDelete({ count: 0, processed: true })).toBeUndefined();
});
