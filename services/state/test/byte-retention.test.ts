import { Readable } from "node:stream";
import { createLogger } from "@statehouse/runtime";
import { temporaryFolder } from "@statehouse/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { App } from "../app.ts";
import { sweepOnce } from "../blob/sweeper-worker.ts";
import { startVerifier } from "../blob/verification-worker.ts";
import { deleteBlobsOnce } from "../blob-deletion/worker.ts";
import { checkContents } from "../content/check-command.ts";
import { contents } from "../content/store.ts";
import { currentInterruptions, recordHeartbeat } from "../database-heartbeat/app.ts";
import { listAsDeleted } from "../object/deleted-permanently-store.ts";
import { openDirectoryStore } from "../object/directory-store.ts";
import { newBlobKey } from "../object/key-domain.ts";
import type { BlobStore } from "../object/store.ts";
import { type RunningState, runState } from "./running-state.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const never = new AbortController().signal;

const stack = new AsyncDisposableStack();
let state: RunningState;
let store: BlobStore;
let app: App;
/** How far the app's clock has advanced since the start of the test, in ms. */
let elapsed = 0;
const start = Date.now();
beforeAll(async () => {
  state = stack.use(await runState());
  store = stack.use(await openDirectoryStore(stack.use(await temporaryFolder()).path));
});
afterAll(() => stack.disposeAsync());
beforeEach(async () => {
  elapsed = 0;
  // The default deletion delay, and one hour of grace for uploads.
  const settings = {
    ...state.app.settings,
    blobDeletionDelayMs: 7 * DAY,
    sweepGraceMs: 60 * MINUTE,
  };
  app = { ...state.app, settings, now: () => new Date(start + elapsed) };
  await state.database.query("delete from database_interruptions");
  await state.database.query("delete from database_heartbeats");
  await state.database.query("delete from blob_deletions");
  for await (const { key } of store.list()) await store.delete([key]);
  await recordHeartbeat(app);
  await state.database.query("delete from database_interruptions");
});

const keys = async () => {
  const found: string[] = [];
  for await (const { key } of store.list()) found.push(key);
  return found;
};

/** Stores the bytes of an upload that begins now, without a row. */
async function ownerless(): Promise<string> {
  const startedAt = app.now();
  const key = newBlobKey({ workspaceId: "ws-1", versionId: "sv-1", kind: "raw", startedAt });
  await store.put(key, Readable.from([Buffer.from("x")]), { size: 1 }, never);
  return key;
}

/** Advances the clock in steps of five minutes, and leaves the heartbeat that running replicas would leave. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5 * MINUTE) {
    elapsed += Math.min(left, 5 * MINUTE);
    // Each heartbeat overwrites the one before it, so only the heartbeat of the last step is written.
    if (left <= 5 * MINUTE) {
      await state.database.query("update database_heartbeats set beat_at = $1", [app.now()]);
    }
  }
}

const check = async () =>
  checkContents({
    ...app.settings,
    rows: contents.reads(state.database),
    store,
    readContents: true,
    settlingMs: 10,
    interruptions: await currentInterruptions(app.reads.databaseHeartbeats, app.now()),
    now: app.now,
    onProgress: () => {},
    signal: never,
  });

test("bytes without a row remain for the delay after their upload began", async () => {
  const key = await ownerless();
  await pass(7 * DAY - MINUTE);
  expect(await sweepOnce(app, store)).toBe(0);
  expect(await keys()).toEqual([key]);
  expect(await check()).toMatchObject({ problems: [], young: 1 });
  await pass(2 * MINUTE);
  expect(await sweepOnce(app, store)).toBe(1);
  expect(await keys()).toEqual([]);
});

test("bytes that wait for their deletion remain until it is due, however old they are", async () => {
  const key = await ownerless();
  await pass(30 * DAY);
  await state.database.query("insert into blob_deletions (key, due_at) values ($1, $2)", [
    key,
    new Date(app.now().getTime() + 7 * DAY),
  ]);
  await pass(7 * DAY - MINUTE);
  expect(await sweepOnce(app, store)).toBe(0);
  expect(await deleteBlobsOnce(app, store)).toBe(false);
  expect(await keys()).toEqual([key]);
  await pass(2 * MINUTE);
  expect(await deleteBlobsOnce(app, store)).toBe(true);
  expect(await keys()).toEqual([]);
});

test("bytes that lost their row by a restore remain for the delay after the restore", async () => {
  await recordHeartbeat(app);
  const backup = await state.database.query<{ beat_at: Date }>(
    "select beat_at from database_heartbeats",
  );
  await pass(MINUTE);
  const key = await ownerless();
  await pass(6 * DAY);
  // Simulates a restore: the database continues with the heartbeat row of the backup.
  await state.database.query("update database_heartbeats set beat_at = $1", [backup[0]?.beat_at]);
  expect(await check()).toMatchObject({ problems: [], young: 1 });
  expect(await sweepOnce(app, store)).toBe(0);
  await pass(7 * DAY - MINUTE);
  expect(await sweepOnce(app, store)).toBe(0);
  expect(await keys()).toEqual([key]);
  await pass(2 * MINUTE);
  expect(await sweepOnce(app, store)).toBe(1);
});

test("a restore to a point a minute before is detected by the database's identity", async () => {
  const key = await ownerless();
  await pass(6 * DAY);
  await state.database.query("update database_heartbeats set beat_at = $1, database = 'another'", [
    new Date(start + MINUTE),
  ]);
  elapsed = 6 * DAY;
  await recordHeartbeat(app);
  await pass(2 * DAY);
  expect(await sweepOnce(app, store)).toBe(0);
  expect(await keys()).toEqual([key]);
});

test("a restore during a sweep is detected before anything is deleted", async () => {
  await ownerless();
  await pass(8 * DAY);
  const restoring: App = {
    ...app,
    reads: {
      ...app.reads,
      contents: {
        ...app.reads.contents,
        async listKnownKeys() {
          const backup = new Date(start);
          await state.database.query("update database_heartbeats set beat_at = $1", [backup]);
          return [];
        },
      },
    },
  };
  expect(await sweepOnce(restoring, store)).toBe(0);
});

test("bytes that an owner deleted permanently are reported as such after a restore, not as lost", async () => {
  const lines: string[] = [];
  const logger = createLogger({
    service: "state",
    level: "info",
    destination: { write: (line: string) => void lines.push(line) },
  });
  const { internalUploadPath, stateVersion } = await state.create(state.lockedWorkspace(), "x");
  const claims = state.app.uploadTokens.verify(
    internalUploadPath.split("/").at(-1) ?? "",
    state.app.now(),
  );
  if (!claims) throw new Error("the token is not valid");
  const startedAt = state.app.now();
  const blobKey = newBlobKey({ ...claims, startedAt });
  await state.put(internalUploadPath, "x", { ...state.attemptOf("x"), blobKey });
  expect((await check()).problems).toMatchObject([{ problem: "missing", key: blobKey }]);
  await listAsDeleted(store, [blobKey], app.now());
  expect(await check()).toMatchObject({
    problems: [],
    deletedPermanently: [{ key: blobKey, versionId: stateVersion?.id }],
    foreign: 0,
  });
  state.pass(app.settings.verificationIntervalMs);
  {
    await using _verifier = startVerifier({ ...state.app, logger }, store);
    await expect.poll(() => lines.join()).toContain("deleted permanently");
  }
  expect(lines.join()).not.toContain("restore it from a backup");
});
