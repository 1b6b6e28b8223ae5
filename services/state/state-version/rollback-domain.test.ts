import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { rollbackWithoutLock } from "../errors-domain.ts";
import { writableEpoch } from "../lock-epoch/domain.ts";
import { madeVersion } from "../test/made-version.ts";
import { newWorkspaceState } from "../workspace-state/domain.ts";
import type { StateVersion } from "./domain.ts";
import {
  copyVersion,
  followingSerial,
  repeatedRollback,
  requireOwnSource,
} from "./rollback-domain.ts";

const now = new Date("2026-01-01T00:00:00Z");

const version = (more: Partial<StateVersion> = {}) => {
  const source = { md5: "m", lineage: "l", runId: "run-a", outputsGiven: true, blobKey: "raw" };
  return madeVersion({ ...source, ...more });
};

const init = {
  id: "sv-copy",
  position: 9n,
  lockEpoch: 11n,
  serial: 7n,
  createdAt: now,
  createdByType: "team",
  createdById: "team-b",
} as const;

describe("a rollback copy", () => {
  test("has the contents of its source and its own name, serial and creator", () => {
    const source = version({ position: 3n, size: 5n, sha256: "s", resourcesProcessed: true });
    expect(copyVersion(source, init)).toMatchObject({
      ...init,
      ...{ md5: "m", lineage: "l", blobKey: "raw", size: 5n, sha256: "s", outputsGiven: true },
      ...{ status: "finalized", intermediate: false, rollbackVersionId: "sv-3", runId: null },
      ...{ resourcesProcessed: true, extractionDueAt: null },
    });
  });

  test("of a source that is not extracted is extracted itself", () => {
    expect(copyVersion(version(), init).extractionDueAt).toEqual(now);
  });

  test.each([
    "pending",
    "discarded",
    "backing_data_soft_deleted",
    "backing_data_permanently_deleted",
  ] as const)("cannot be made of a version that is %s", (status) => {
    expect(() => copyVersion(version({ status }), init)).toThrow(
      expect.objectContaining({ kind: "conflict", reason: "rollback_without_content" }),
    );
  });

  test("cannot be made of another workspace's version", () => {
    expect(() => requireOwnSource({ workspaceId: "ws-b" }, "ws-a")).toThrow(
      expect.objectContaining({ kind: "invalid" }),
    );
  });
});

describe("the lock of a rollback", () => {
  const holder = { type: "user", id: "user-a" };
  const workspace = Object.assign(newWorkspaceState("ws-a"), { sealedEpoch: 10n });

  test.each([
    ["absent", null, "workspace_not_locked"],
    ["another user's", { holder: { ...holder, id: "user-b" }, epoch: 11n }, "workspace_locked"],
    ["released", { holder, epoch: 10n }, "lock_sealed"],
  ])("%s: 409", (_, lock, reason) => {
    expect(() => writableEpoch(workspace, lock, holder, rollbackWithoutLock)).toThrow(
      expect.objectContaining({ kind: "conflict", reason }),
    );
  });

  test("held by the caller: returns its epoch", () => {
    expect(writableEpoch(workspace, { holder, epoch: 11n }, holder, rollbackWithoutLock)).toBe(11n);
  });
});

describe("the new serial", () => {
  test("is above that of the newest version, regardless of earlier serials", () => {
    proves("Rollback/PATCH");
    const older = version({ position: 1n, serial: 50n, lockEpoch: 1n });
    expect(followingSerial(11n, [older, version({ position: 2n, serial: 4n })])).toBe(5n);
  });

  test("is above every serial of its lock, including forced and discarded ones", () => {
    const known = [
      version({ position: 1n, serial: 8n }),
      version({ position: 2n, serial: 9n, status: "discarded" }),
      version({ position: 3n, serial: 2n }),
    ];
    expect(followingSerial(10n, known)).toBe(10n);
  });

  test("is 1 if no version exists, and a conflict if no larger serial exists", () => {
    expect(followingSerial(10n, [])).toBe(1n);
    const last = version({ serial: BigInt(Number.MAX_SAFE_INTEGER) });
    expect(() => followingSerial(10n, [last])).toThrow(
      expect.objectContaining({ kind: "conflict", reason: "serials_exhausted" }),
    );
  });
});

describe("a repeated rollback", () => {
  const copy = version({ position: 5n, rollbackVersionId: "sv-1" });

  test("returns the copy while it is the newest version of its lock", () => {
    expect(repeatedRollback("sv-1", 10n, [version(), copy])).toBe(copy);
  });

  test.each([
    ["another source", "sv-2", 10n, []],
    ["another lock", "sv-1", 11n, []],
    ["something newer", "sv-1", 10n, [version({ position: 6n })]],
  ] as const)("%s: creates another copy", (_, sourceId, epoch, more) => {
    expect(repeatedRollback(sourceId, epoch, [copy, ...more])).toBeUndefined();
  });
});
