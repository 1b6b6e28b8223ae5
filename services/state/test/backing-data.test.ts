import { BackingDataService } from "@statehouse/proto/statehouse/state/v1/backing_data";
import { createClient } from "@statehouse/rpc";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { deleteExpiredBackingData } from "../backing-data/app.ts";
import { claimBlobDeletions } from "../blob/app.ts";
import { discardExpiredVersions } from "../discarded-version/app.ts";
import { authorizeDownload } from "../state-version/app.ts";
import { beginUpload, finishUpload } from "../state-version/upload-app.ts";
import { refusal } from "./refusal.ts";
import { type RunningState, runState } from "./running-state.ts";
import { owner } from "./service-fakes.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

const DAY_MS = 24 * 60 * 60_000;

type Action = "softDeleteBackingData" | "restoreBackingData" | "permanentlyDeleteBackingData";

const act = async (action: Action, stateVersionId: string) => {
  const client = createClient(BackingDataService, state.channel, state.as(owner));
  return (await client[action]({ stateVersionId })).stateVersion;
};
const softDelete = (id: string) => act("softDeleteBackingData", id);
const restore = (id: string) => act("restoreBackingData", id);
const permanentlyDelete = (id: string) => act("permanentlyDeleteBackingData", id);

/** Creates a workspace with two versions. The second is current; the first has both contents and an output. */
async function twoVersions() {
  const workspaceId = state.lockedWorkspace();
  const request = {
    workspaceId,
    serial: 1n,
    lineage: "a",
    md5: state.attemptOf("x").md5,
    jsonStateOutputs: new TextEncoder().encode('{"o":{"value":1,"type":"number"}}'),
  };
  const first = await state.versions.createStateVersion(request);
  const attempt = state.attemptOf("x");
  await state.put(first.internalUploadPath, "x", attempt);
  const json = state.attemptOf("{}");
  await state.put(first.internalJsonUploadPath, "{}", json);
  const second = await state.write(workspaceId, "y", { serial: 2n });
  return {
    workspaceId,
    request,
    first: first.stateVersion?.id ?? "",
    second,
    url: first.internalUploadPath,
    jsonUrl: first.internalJsonUploadPath,
    keys: [attempt.blobKey, json.blobKey],
  };
}

const download = async (id: string, kind: "raw" | "json" = "raw") =>
  authorizeDownload(state.app, await state.callerOf(owner), id as `sv-${string}`, kind);

const statusOf = async (id: string) =>
  (await state.versions.getStateVersion({ id })).stateVersion?.status;

async function blobsToDelete(keys: readonly string[]) {
  const rows = await state.database.query<{ key: string }>(
    "select key from blob_deletions where key = any($1) order by key",
    [keys],
  );
  return rows.map(({ key }) => key);
}

test("soft-deleted data cannot be read and is unchanged after its restoration", async () => {
  proves("State version status/finalized, soft_delete_backing_data, not current");
  const { workspaceId, first } = await twoVersions();
  const before = (await state.versions.getStateVersion({ id: first })).stateVersion;
  const outputs = () => state.outputs.listStateVersionOutputs({ stateVersionId: first });
  const id = (await outputs()).outputs[0]?.id ?? "";
  const raw = await download(first);

  expect(await softDelete(first)).toMatchObject({
    status: "backing_data_soft_deleted",
    downloadUrl: "",
    jsonDownloadUrl: "",
    uploadUrl: "",
    jsonUploadUrl: "",
  });
  for (const kind of ["raw", "json"] as const) {
    expect(await refusal(download(first, kind))).toBe("notFound not_found");
  }
  expect(await refusal(outputs())).toBe("notFound not_found");
  expect(await refusal(state.outputs.getStateVersionOutput({ id }))).toBe("notFound not_found");
  const included = await state.outputs.batchListStateVersionOutputs({ stateVersionIds: [first] });
  expect(included.outputs).toEqual([]);

  expect(await restore(first)).toEqual(before);
  expect(await download(first)).toEqual(raw);
  expect((await outputs()).outputs).toHaveLength(1);
  expect((await state.events(workspaceId)).slice(-2)).toEqual([
    "state-version.soft-deleted",
    "state-version.restored",
  ]);
});

test("permanently deleted data has no blobs, outputs or resources and cannot be restored", async () => {
  proves("State version status/backing_data_soft_deleted, permanently_delete_backing_data");
  const { workspaceId, first, keys } = await twoVersions();
  await softDelete(first);
  expect(await permanentlyDelete(first)).toMatchObject({
    status: "backing_data_permanently_deleted",
    downloadUrl: "",
    resourcesJson: "[]",
    resourcesProcessed: true,
  });
  expect(await blobsToDelete(keys)).toEqual(keys.toSorted());
  const { length } = await state.database.query(
    "select from state_version_outputs where state_version_id = $1",
    [first],
  );
  expect(length).toBe(0);
  expect(await refusal(restore(first))).toBe("badRequest transition_not_allowed");
  expect(await refusal(permanentlyDelete(first))).toBe("badRequest transition_not_allowed");
  expect((await state.events(workspaceId)).at(-1)).toBe("state-version.permanently-deleted");
});

test("a copy keeps the blob of a permanently deleted version", async () => {
  proves("Data retention/never the current version, nor what a rollback shares");
  const { workspaceId, first, keys } = await twoVersions();
  const { stateVersion: copy } = await state.versions.rollbackStateVersion({
    workspaceId,
    rollbackStateVersionId: first,
  });
  await softDelete(first);
  const rollback = { workspaceId, rollbackStateVersionId: first };
  // The newest version under this lock is still the copy that the first request created, so the repeated request
  // returns it.
  expect(await refusal(state.versions.rollbackStateVersion(rollback))).toBe("accepted");
  await permanentlyDelete(first);
  expect(await blobsToDelete(keys)).toEqual([]);
  expect((await download(copy?.id ?? "")).blobKey).toBe(keys[0]);
  const { outputs } = await state.outputs.listCurrentOutputs({ workspaceId });
  expect(outputs).toHaveLength(1);
});

describe("an upload URL of a version with deleted data", () => {
  beforeEach(() => proves("Upload/never onto a discarded or deleted version"));
  test.each([
    ["soft-deleted", [softDelete]],
    ["permanently deleted", [softDelete, permanentlyDelete]],
  ])("that is %s refuses even the same bytes", async (_, actions) => {
    const { first, url, jsonUrl, request } = await twoVersions();
    for (const action of actions) await action(first);
    for (const bytes of ["x", "other"]) {
      expect(await refusal(state.put(url, bytes))).toBe("conflict backing_data_deleted");
    }
    expect(await refusal(state.put(jsonUrl, "{}"))).toBe("conflict backing_data_deleted");
    for (const force of [false, true]) {
      const repeat = state.versions.createStateVersion({ ...request, force, inlineSize: 1n });
      expect(await refusal(repeat)).toBe("conflict state_version_superseded");
    }
  });

  test("that was deleted during the upload of its JSON form refuses it", async () => {
    const workspaceId = state.lockedWorkspace();
    const created = await state.create(workspaceId, "x");
    await state.put(created.internalUploadPath, "x");
    await state.write(workspaceId, "y", { serial: 2n });
    const token = created.internalJsonUploadPath.split("/").at(-1) ?? "";
    const claims = state.app.uploadTokens.verify(token, state.app.now());
    if (!claims) throw new Error("the token is not valid");
    const { target } = await beginUpload(state.app, claims);
    await softDelete(created.stateVersion?.id ?? "");
    const finished = finishUpload(state.app, target, "json", state.attemptOf("{}"));
    expect(await refusal(finished)).toBe("conflict backing_data_deleted");
  });
});

test("a lock or a pending version does not affect the deletion of data", async () => {
  const { workspaceId, first, second } = await twoVersions();
  const pending = await state.create(workspaceId, "z", { serial: 3n });
  await softDelete(first);
  expect(await statusOf(pending.stateVersion?.id ?? "")).toBe("pending");
  expect(await refusal(state.workspaceState.sealLock({ workspaceId, epoch: 10n }))).toBe(
    "unavailable state_version_pending",
  );
  // Superseding, expiry and sealing do not change a version whose data is deleted.
  await state.create(workspaceId, "zz", { serial: 4n });
  state.pass(state.app.settings.pendingWindowMs + 1000);
  await discardExpiredVersions(state.app);
  await state.workspaceState.sealLock({ workspaceId, epoch: 10n, discardPending: true });
  expect(await statusOf(first)).toBe("backing_data_soft_deleted");
  await restore(first);
  const { stateVersion } = await state.versions.getCurrentStateVersion({ workspaceId });
  expect(stateVersion?.id).toBe(second);
});

describe("soft-deleted data whose period has ended", () => {
  test("is permanently deleted, but not before the period ends; data that is restored and deleted again gets a new period", async () => {
    proves("State version status/soft-deleted data is deleted for good after its days");
    const { first, keys } = await twoVersions();
    const other = await twoVersions();
    await softDelete(first);
    await softDelete(other.first);
    const days = state.app.settings.softDeletionMs;
    state.pass(days - DAY_MS);
    await deleteExpiredBackingData(state.app);
    expect(await statusOf(first)).toBe("backing_data_soft_deleted");
    await restore(other.first);
    await softDelete(other.first);
    state.pass(DAY_MS + 1000);
    while ((await deleteExpiredBackingData(state.app)) > 0);
    expect(await statusOf(first)).toBe("backing_data_permanently_deleted");
    expect(await statusOf(other.first)).toBe("backing_data_soft_deleted");
    const due = (await claimBlobDeletions(state.app)).map(({ key }) => key);
    expect(due).toEqual(expect.arrayContaining(keys));
  });

  test("is deleted once by concurrent replicas, and never after a restoration", async () => {
    proves("State version status/soft-deleted data is deleted for good after its days");
    const made = await Promise.all(Array.from({ length: 12 }, () => twoVersions()));
    await Promise.all(made.map(({ first }) => softDelete(first)));
    state.pass(state.app.settings.softDeletionMs + 1000);
    const [, , ...restored] = await Promise.all([
      deleteExpiredBackingData(state.app),
      deleteExpiredBackingData(state.app),
      ...made.map(({ first }) => refusal(restore(first))),
    ]);
    while ((await deleteExpiredBackingData(state.app)) > 0);
    for (const [index, { first, workspaceId }] of made.entries()) {
      const won = restored[index] === "accepted";
      expect(await statusOf(first)).toBe(won ? "finalized" : "backing_data_permanently_deleted");
      const events = (await state.events(workspaceId)).filter((type) =>
        type.endsWith("permanently-deleted"),
      );
      expect(events).toHaveLength(won ? 0 : 1);
    }
  });
});

test("is kept if it was restored and deleted again meanwhile", async () => {
  proves("State version status/soft-deleted data is deleted for good after its days");
  const { first } = await twoVersions();
  await softDelete(first);
  const { reads, settings } = state.app;
  const later = new Date(state.app.now().getTime() + settings.softDeletionMs);
  await deleteExpiredBackingData({
    ...state.app,
    now: () => later,
    reads: {
      ...reads,
      stateVersions: {
        ...reads.stateVersions,
        async listSoftDeleted(before, limit) {
          const found = await reads.stateVersions.listSoftDeleted(before, limit);
          expect(found.map(({ id }) => id)).toContain(first);
          await restore(first);
          state.pass(1000);
          await softDelete(first);
          return found.filter(({ id }) => id === first);
        },
      },
    },
  });
  expect(await statusOf(first)).toBe("backing_data_soft_deleted");
  expect((await restore(first))?.status).toBe("finalized");
});

test("is deleted with its dropped workspace", async () => {
  const { first, workspaceId, keys } = await twoVersions();
  await softDelete(first);
  await state.workspaceState.dropWorkspace({ workspaceId });
  expect(await refusal(restore(first))).toBe("notFound not_found");
  state.pass(state.app.settings.softDeletionMs + 1000);
  while ((await deleteExpiredBackingData(state.app)) > 0);
  expect(await blobsToDelete(keys)).toEqual(keys.toSorted());
});
