import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { claimBlobDeletions } from "../blob/app.ts";
import { discardExpiredVersions } from "../discarded-version/app.ts";
import { purgeDroppedWorkspaces } from "../workspace-state/app.ts";
import { ownedKeys } from "./retained.ts";
import { type RunningState, runState } from "./running-state.ts";
import { organizationId, owner, reader } from "./service-fakes.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

const seal = (workspaceId: string, epoch = 10n, discardPending = false) =>
  state.workspaceState.sealLock({ workspaceId, epoch, discardPending });

async function finalized(id: string, bytes: string, serial = 1n) {
  const created = await state.create(id, bytes, { serial });
  const attempt = state.attemptOf(bytes);
  await state.put(created.internalUploadPath, bytes, attempt);
  return { id: created.stateVersion?.id ?? "", blobKey: attempt.blobKey };
}

describe("sealing a lock", () => {
  test("with discard_pending discards the pending version", async () => {
    const id = state.lockedWorkspace();
    const { stateVersion } = await state.create(id, "x");
    await seal(id, 10n, true);
    const read = await state.versions.getStateVersion({ id: stateVersion?.id ?? "" });
    expect(read.stateVersion?.status).toBe("discarded");
    expect(await state.events(id)).toEqual(["state-version.created", "state-version.discarded"]);
  });

  test("returns the summary, and a repeated call changes nothing", async () => {
    const id = state.lockedWorkspace();
    const version = await finalized(id, "x");
    const { summary } = await seal(id);
    expect(summary).toMatchObject({ workspaceId: id, currentStateVersionId: version.id });
    expect(summary?.latestChangeAt).toBeDefined();
    expect((await seal(id)).summary).toEqual(summary);
    expect((await seal(id, 3n)).summary).toEqual(summary);
  });

  test("of a workspace without state also refuses later writes", async () => {
    const id = state.lockedWorkspace();
    const { summary } = await seal(id);
    expect(summary).toMatchObject({ currentStateVersionId: "", resourceCount: 0 });
    await expect(state.create(id, "x")).rejects.toMatchObject({ reason: "lock_sealed" });
  });

  test("does not wait for an expired version", async () => {
    proves("Upload/ends with the pending");
    await using own = await runState();
    const id = own.lockedWorkspace();
    await own.create(id, "x");
    own.pass(own.app.settings.pendingWindowMs);
    const { summary } = await own.workspaceState.sealLock({ workspaceId: id, epoch: 10n });
    expect(summary?.currentStateVersionId).toBe("");
  });
});

test("in the hosted edition a repeated create request with inline state makes a pending snapshot current immediately", async () => {
  await using hosted = await runState({ edition: "hosted" });
  const workspaceId = hosted.lockedWorkspace();
  const announced = await hosted.create(workspaceId, "x");
  expect(announced.stateVersion?.intermediate).toBe(true);
  const repeated = await hosted.create(workspaceId, "x", { inline: true });
  expect(repeated.stateVersion?.id).toBe(announced.stateVersion?.id);
  await hosted.put(repeated.internalUploadPath, "x");
  const { stateVersion } = await hosted.versions.getCurrentStateVersion({ workspaceId });
  expect(stateVersion).toMatchObject({ id: announced.stateVersion?.id, intermediate: false });
});

test("a list of workspaces by id returns all of them, however many ids it names", async () => {
  const id = state.lockedWorkspace();
  await seal(id);
  const workspaceIds = [...Array.from({ length: 1000 }, (_, index) => `ws-none${index}`), id];
  const { workspaces } = await state.workspaceState.listWorkspaceStates({ workspaceIds });
  expect(workspaces.map(({ summary }) => summary?.workspaceId)).toEqual([id]);
});

test("expired pending versions are discarded", async () => {
  proves("Upload/ends with the pending");
  await using own = await runState();
  const id = own.lockedWorkspace();
  const { stateVersion } = await own.create(id, "x");
  expect(await discardExpiredVersions(own.app)).toBe(0);
  own.pass(own.app.settings.pendingWindowMs);
  expect(await discardExpiredVersions(own.app)).toBe(1);
  expect(await discardExpiredVersions(own.app)).toBe(0);
  const read = await own.versions.getStateVersion({ id: stateVersion?.id ?? "" });
  expect(read.stateVersion?.status).toBe("discarded");
});

describe("the number of managed resources for a safe deletion", () => {
  const managed = (workspaceId: string) =>
    state.workspaceState.getManagedResources({ workspaceId, epoch: 11n });

  test("is unknown during an upload, which continues", async () => {
    const id = state.lockedWorkspace();
    const { internalUploadPath } = await state.create(id, "x");
    expect(await managed(id)).toMatchObject({ processed: false });
    expect((await state.put(internalUploadPath, "x")).outcome).toBe("stored");
  });

  test("remains true, because earlier lock epochs are sealed", async () => {
    const id = state.lockedWorkspace();
    expect(await managed(id)).toMatchObject({ processed: true, resourceCount: 0 });
    for (const epoch of [10n, 11n]) {
      state.fakes.lock(id, owner, epoch);
      await expect(state.create(id, "x")).rejects.toMatchObject({ reason: "lock_sealed" });
    }
  });
});

test("an upload that ends while its version expires is kept", async () => {
  proves("Upload/ends with the pending");
  const id = state.lockedWorkspace();
  const { stateVersion, internalUploadPath } = await state.create(id, "x");
  const { reads, settings } = state.app;
  const later = new Date(Date.now() + settings.pendingWindowMs);
  await discardExpiredVersions({
    ...state.app,
    now: () => later,
    reads: {
      ...reads,
      stateVersions: {
        ...reads.stateVersions,
        async listExpired(now, limit) {
          const found = await reads.stateVersions.listExpired(now, limit);
          expect(found.map((version) => version.id)).toContain(stateVersion?.id);
          // Simulates an upload that began in time and waited for the lock on the workspace's row.
          await state.put(internalUploadPath, "x");
          return found;
        },
      },
    },
  });
  const current = await state.versions.getCurrentStateVersion({ workspaceId: id });
  expect(current.stateVersion).toMatchObject({ id: stateVersion?.id, status: "finalized" });
});

describe("a placement", () => {
  test("is requested once and then changed only by higher versions", async () => {
    const id = state.lockedWorkspace();
    const read = () =>
      state.versions.listStateVersions({ workspaceId: id }, state.as(reader)).then(
        ({ totalCount }) => totalCount,
        ({ kind }: { kind: string }) => kind,
      );
    const before = state.fakes.calls.placements;
    expect([await read(), await read()]).toEqual([0, 0]);
    expect(state.fakes.calls.placements).toBe(before + 1);
    const place = (projectId: string, version: bigint) =>
      state.workspaceState.setPlacement({ workspaceId: id, organizationId, projectId, version });
    await place("prj-hidden", 5n);
    expect(await read()).toBe("notFound");
    await place("prj-1", 4n);
    expect(await read()).toBe("notFound");
    await place("prj-1", 6n);
    expect(await read()).toBe(0);
  });
});

describe("a dropped workspace", () => {
  test("can be neither read nor written, regardless of other services", async () => {
    const id = state.lockedWorkspace();
    const version = await finalized(id, "x");
    const pending = await state.create(id, "y", { serial: 2n });
    await state.workspaceState.dropWorkspace({ workspaceId: id, organizationId });
    await state.workspaceState.dropWorkspace({ workspaceId: id, organizationId });
    await state.workspaceState.setPlacement({
      workspaceId: id,
      organizationId,
      projectId: "prj-1",
      version: 99n,
    });
    const gone = { kind: "notFound" };
    const { versions } = state;
    await expect(versions.getStateVersion({ id: version.id })).rejects.toMatchObject(gone);
    await expect(versions.getCurrentStateVersion({ workspaceId: id })).rejects.toMatchObject(gone);
    await expect(versions.listStateVersions({ workspaceId: id })).rejects.toMatchObject(gone);
    await expect(state.create(id, "z", { serial: 3n })).rejects.toMatchObject(gone);
    await expect(state.put(pending.internalUploadPath, "y")).rejects.toMatchObject(gone);
    await expect(seal(id)).rejects.toMatchObject(gone);
    const { stateVersions } = await versions.batchGetStateVersions({ ids: [version.id] });
    expect(stateVersions).toEqual([]);
  });

  test("that the state service did not know remains dropped", async () => {
    const id = state.lockedWorkspace();
    await state.workspaceState.dropWorkspace({ workspaceId: id, organizationId });
    await expect(state.create(id, "x")).rejects.toMatchObject({ kind: "notFound" });
  });

  test("is purged: the tombstone remains, and its blobs are deleted", async () => {
    await using own = await runState();
    const id = own.lockedWorkspace();
    const keys: string[] = [];
    for (let serial = 1n; serial <= 60n; serial++) {
      const created = await own.create(id, `x${serial}`, { serial });
      const attempt = own.attemptOf(`x${serial}`);
      await own.put(created.internalUploadPath, `x${serial}`, attempt);
      keys.push(attempt.blobKey);
    }
    expect((await ownedKeys(own.app, keys)).size).toBe(60);
    await own.workspaceState.dropWorkspace({ workspaceId: id, organizationId });
    while (await purgeDroppedWorkspaces(own.app));
    const left = await own.database.query("select from state_versions where workspace_id = $1", [
      id,
    ]);
    expect(left).toEqual([]);
    expect((await ownedKeys(own.app, keys)).size).toBe(0);
    const claim = async () => (await claimBlobDeletions(own.app)).map(({ key }) => key);
    const taken = await claim();
    expect(taken.toSorted()).toEqual(keys.toSorted());
    expect(await claim()).toEqual([]);
    await own.app.leases.blobDeletions.confirm(taken.slice(1));
    own.pass(3_600_000);
    expect(await claim()).toEqual(taken.slice(0, 1));
    await expect(own.create(id, "z")).rejects.toMatchObject({ kind: "notFound" });
  });
});

test("the due extraction of a dropped workspace is not claimed", async () => {
  const [dropped, kept] = [state.lockedWorkspace(), state.lockedWorkspace()];
  const first = await state.write(dropped, "x");
  const second = await state.write(kept, "y");
  await state.workspaceState.dropWorkspace({ workspaceId: dropped });
  const now = new Date(Date.now() + 1000);
  const claimed: string[] = [];
  for (;;) {
    const claim = await state.app.leases.extractions.claim(now, new Date(now.getTime() + 60_000));
    if (!claim) break;
    claimed.push(claim.versionId);
  }
  expect(claimed).toContain(second);
  expect(claimed).not.toContain(first);
});
