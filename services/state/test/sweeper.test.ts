import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { queryIn } from "@statehouse/postgres";
import { createLogger } from "@statehouse/runtime";
import { temporaryFolder, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sweepOnce } from "../blob/sweeper-worker.ts";
import { verifyNextPage } from "../blob/verification-app.ts";
import { startVerifier } from "../blob/verification-worker.ts";
import { startBlobDeletion } from "../blob-deletion/worker.ts";
import { startHousekeeping } from "../housekeeping-worker.ts";
import { openDirectoryStore } from "../object/directory-store.ts";
import { newBlobKey } from "../object/key-domain.ts";
import type { BlobStore } from "../object/store.ts";
import { tracedStore } from "../object/traced-store.ts";
import { beginUpload, finishUpload } from "../state-version/upload-app.ts";
import { purgeDroppedWorkspaces } from "../workspace-state/app.ts";
import { type RunningState, runState } from "./running-state.ts";

const never = new AbortController().signal;

const stack = new AsyncDisposableStack();
let state: RunningState;
let store: BlobStore;
beforeAll(async () => {
  state = stack.use(await runState());
  store = stack.use(await openDirectoryStore(stack.use(await temporaryFolder()).path));
});
afterAll(() => stack.disposeAsync());

async function keys(): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const { key } of store.list()) found.add(key);
  return found;
}

/**
 * Stores the bytes of an upload attempt that began `age` ms ago, and returns their key. With `finish` the attempt is
 * also committed.
 */
async function attempt(workspaceId: string, { age = 0, finish = false } = {}): Promise<string> {
  const { internalUploadPath } = await state.create(workspaceId, "x");
  const token = internalUploadPath.split("/").at(-1) ?? "";
  const claims = state.app.uploadTokens.verify(token, state.app.now());
  if (!claims) throw new Error("the token is not valid");
  const attemptStartedAt = new Date(state.app.now().getTime() - age);
  const blobKey = newBlobKey({ ...claims, startedAt: attemptStartedAt });
  const stored = await store.put(blobKey, Readable.from([Buffer.from("x")]), { size: 1 }, never);
  if (finish) {
    const { target } = await beginUpload(state.app, claims);
    await finishUpload(state.app, target, claims.kind, { ...stored, blobKey, attemptStartedAt });
  }
  return blobKey;
}

it("deletes only old keys without a row", async () => {
  proves("Object store/blobs without rows are");
  const { sweepGraceMs } = state.app.settings;
  const foreign = "somebody/elses/file";
  await store.put(foreign, Readable.from([Buffer.from("x")]), { size: 1 }, never);
  const workspaceId = state.lockedWorkspace();
  const left = await attempt(workspaceId, { age: sweepGraceMs + 1000 });
  const young = await attempt(workspaceId, { age: sweepGraceMs - 60_000 });
  const owned = await attempt(workspaceId, { finish: true });

  expect(await sweepOnce(state.app, store)).toBe(1);
  expect(await keys()).toEqual(new Set([foreign, young, owned]));
  expect(left).not.toBe(young);

  state.pass(sweepGraceMs * 2);
  const sweeps = await Promise.all([sweepOnce(state.app, store), sweepOnce(state.app, store)]);
  expect(Math.max(...sweeps)).toBe(1);
  expect(await keys()).toEqual(new Set([foreign, owned]));
  await store.delete([foreign, owned]);
});

it("deletes the other keys if one cannot be deleted, and then throws", async () => {
  proves("Object store/blobs without rows are");
  const workspaceId = state.lockedWorkspace();
  const startedAt = new Date(state.app.now().getTime() - state.app.settings.sweepGraceMs - 1000);
  const keysOf = Array.from({ length: 501 }, (_, index) =>
    newBlobKey({
      workspaceId: workspaceId as "ws-1",
      versionId: `sv-${index}`,
      kind: "raw",
      startedAt,
    }),
  );
  const listed = keysOf.map((key) => ({ key, size: 1 }));
  const deleted: string[] = [];
  const [stuck = ""] = keysOf;
  const stubborn: BlobStore = {
    ...tracedStore(store),
    async *list() {
      yield* listed;
    },
    async delete(some) {
      deleted.push(...some.filter((key) => key !== stuck));
      if (some.includes(stuck)) throw new Error("it is protected");
    },
  };
  await expect(sweepOnce(state.app, stubborn)).rejects.toThrow("it is protected");
  expect(deleted).toEqual(keysOf.slice(1));
});

it("never deletes the bytes of an upload that commits late, unless the upload fails", async () => {
  proves("Object store/blobs without rows are");
  const sweepGraceMs = 2000;
  const settings = { ...state.app.settings, sweepGraceMs };
  const app = { ...state.app, settings, now: () => new Date() };
  const { internalUploadPath, stateVersion } = await state.create(state.lockedWorkspace(), "x");
  const token = internalUploadPath.split("/").at(-1) ?? "";
  const claims = app.uploadTokens.verify(token, app.now());
  if (!claims) throw new Error("the token is not valid");
  const put = async () => {
    const attemptStartedAt = app.now();
    const blobKey = newBlobKey({ ...claims, startedAt: attemptStartedAt });
    const stored = await store.put(blobKey, Readable.from([Buffer.from("x")]), { size: 1 }, never);
    return { ...stored, blobKey, attemptStartedAt };
  };
  const late = await put();
  const { target } = await beginUpload(app, claims);
  let finishing: Promise<PromiseSettledResult<unknown>[]> | undefined;
  await state.database.transaction(async (em) => {
    // Blocks the upload when it records its event, until the grace period has ended.
    await queryIn(em, "lock table outbox in exclusive mode");
    finishing = Promise.allSettled([finishUpload(app, target, claims.kind, late)]);
    await pause(sweepGraceMs + 100);
    expect(await sweepOnce(app, store)).toBe(1);
  });
  expect(await finishing).toMatchObject([{ status: "rejected" }]);
  const shown = () => state.versions.getStateVersion({ id: stateVersion?.id ?? "" });
  expect((await shown()).stateVersion?.status).toBe("pending");
  const again = await put();
  await finishUpload({ ...app, settings: state.app.settings }, target, claims.kind, again);
  expect((await shown()).stateVersion?.status).toBe("finalized");
  expect(await keys()).toContain(again.blobKey);
  await store.delete([again.blobKey]);
});

it("deletes the bytes of dropped workspaces", async () => {
  const workspaceId = state.lockedWorkspace();
  const owned = await attempt(workspaceId, { finish: true });
  await using _housekeeping = startHousekeeping(state.app);
  await using _deletion = startBlobDeletion(state.app, store);
  expect(await keys()).toContain(owned);
  await state.workspaceState.dropWorkspace({ workspaceId, organizationId: "org-1" });
  await waitFor(async () => !(await keys()).has(owned));
  await waitFor(async () => {
    const rows = await state.database.query("select 1 from blob_deletions", []);
    return rows.length === 0;
  });
});

it("logs rows without bytes repeatedly and continues", async () => {
  proves("Object store/blobs without rows are");
  const lines: string[] = [];
  const loud = createLogger({
    service: "state",
    level: "error",
    destination: { write: (line: string) => void lines.push(line) },
  });
  const workspaceId = state.lockedWorkspace();
  const kept = await attempt(workspaceId, { finish: true });
  const lost = await attempt(state.lockedWorkspace(), { finish: true });
  const short = await attempt(state.lockedWorkspace(), { finish: true });
  await store.delete([lost, short]);
  await store.put(short, Readable.from([Buffer.from("xy")]), { size: 2 }, never);
  const linesAbout = (key: string) => lines.filter((line) => line.includes(key));
  const pass = async () => {
    state.pass(state.app.settings.verificationIntervalMs);
    await using _verifier = startVerifier({ ...state.app, logger: loud }, store);
    await waitFor(() => linesAbout(lost).length > 0 && linesAbout(short).length > 0);
  };
  await pass();
  expect(linesAbout(kept)).toEqual([]);
  expect(linesAbout(lost)[0]).toContain('"found":"none"');
  expect(linesAbout(short)[0]).toContain('"found":2');
  lines.length = 0;
  await pass();
  const [row] = await state.database.query<{ status: string }>(
    "select status from state_versions where blob_key = $1",
    [lost],
  );
  expect(row?.status).toBe("finalized");
  expect((await state.app.reads.scans.getProgress("verification")).found).toBeGreaterThanOrEqual(2);
});

it("deletes neither rows nor bytes of a dropped workspace whose deletion is not confirmed", async () => {
  const workspaceId = state.lockedWorkspace();
  const key = await attempt(workspaceId, { finish: true });
  const other = state.lockedWorkspace();
  await attempt(other, { finish: true });
  await state.dropUnconfirmed(workspaceId);
  await state.workspaceState.dropWorkspace({ workspaceId: other });
  while (await purgeDroppedWorkspaces(state.app)) await Promise.resolve();
  const left = async (id: string) =>
    (await state.database.query("select from state_versions where workspace_id = $1", [id])).length;
  expect([await left(workspaceId), await left(other)]).toEqual([1, 0]);
  expect(await state.app.reads.blobs.listOwned([key])).toEqual([key]);
  expect(await keys()).toContain(key);
  state.fakes.confirmDeletion(workspaceId);
  while (await purgeDroppedWorkspaces(state.app)) await Promise.resolve();
  expect(await left(workspaceId)).toBe(0);
});

it("reports nothing for bytes that are deleted during verification", async () => {
  proves("Object store/blobs without rows are");
  const workspaceId = state.lockedWorkspace();
  const key = await attempt(workspaceId, { finish: true });
  state.pass(state.app.settings.verificationIntervalMs);
  const gone = async (looked: string) => {
    if (looked !== key) return store.sizeOf(looked);
    await state.workspaceState.dropWorkspace({ workspaceId });
    while (await purgeDroppedWorkspaces(state.app));
    return undefined;
  };
  const lost = await verifyNextPage(state.app, gone);
  expect(lost?.map((blob) => blob.key)).not.toContain(key);
});
