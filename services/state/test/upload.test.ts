import { StateVersionService } from "@statehouse/proto/statehouse/state/v1/state_version";
import { createClient } from "@statehouse/rpc";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { authorizeDownload } from "../state-version/app.ts";
import { beginUpload, finishUpload } from "../state-version/upload-app.ts";
import { ownedKeys } from "./retained.ts";
import { md5Of, type RunningState, runState } from "./running-state.ts";
import { outsider, owner, reader } from "./service-fakes.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

const current = async (workspaceId: string) =>
  (await state.versions.getCurrentStateVersion({ workspaceId })).stateVersion;

test("one of two racing uploads succeeds, and the blob of the other upload has no row", async () => {
  proves("Upload/raw and JSON in");
  const id = state.lockedWorkspace();
  const { internalUploadPath: url } = await state.create(id, "x");
  const attempts = [state.attemptOf("x"), state.attemptOf("x")];
  const ends = await Promise.all(attempts.map((attempt) => state.put(url, "x", attempt)));
  expect(ends.map(({ outcome }) => outcome).toSorted()).toEqual(["alreadyStored", "stored"]);
  const owned = await ownedKeys(
    state.app,
    attempts.map(({ blobKey }) => blobKey),
  );
  expect(owned.size).toBe(1);
});

test("an upload that took so long that its blob may be swept is refused", async () => {
  const id = state.lockedWorkspace();
  const { internalUploadPath: url } = await state.create(id, "x");
  const attempt = {
    ...state.attemptOf("x"),
    attemptStartedAt: new Date(Date.now() - state.app.settings.sweepGraceMs),
  };
  await expect(state.put(url, "x", attempt)).rejects.toMatchObject({ reason: "upload_too_slow" });
});

test("JSON that arrives after the upload window is refused", async () => {
  await using own = await runState();
  const created = await own.create(own.lockedWorkspace(), "x");
  await own.put(created.internalUploadPath, "x");
  const token = created.internalJsonUploadPath.split("/").at(-1) ?? "";
  const claims = own.app.uploadTokens.verify(token, own.app.now());
  if (!claims) throw new Error("the token is not valid");
  const { target } = await beginUpload(own.app, claims);
  own.pass(own.app.settings.pendingWindowMs);
  await expect(finishUpload(own.app, target, "json", own.attemptOf("{}"))).rejects.toMatchObject({
    reason: "state_not_taken",
  });
});

test("a write after the seal fails, and the finalized version stays current", async () => {
  proves("State version creation rules/no late write slips through a lock that was given back");
  const id = state.lockedWorkspace();
  const first = await state.create(id, "x");
  await state.put(first.internalUploadPath, "x");
  const late = await state.create(id, "y", { serial: 2n });
  await state.workspaceState.sealLock({ workspaceId: id, epoch: 10n, discardPending: true });
  await expect(state.put(late.internalUploadPath, "y")).rejects.toMatchObject({
    reason: "state_version_discarded",
  });
  await expect(state.create(id, "z", { serial: 3n })).rejects.toMatchObject({
    reason: "lock_sealed",
  });
  expect((await current(id))?.id).toBe(first.stateVersion?.id);
});

test("a seal that races with creations leaves no pending version", async () => {
  proves("State version creation rules/no late write slips through a lock that was given back");
  const id = state.lockedWorkspace();
  const seal = { workspaceId: id, epoch: 10n, discardPending: true };
  await Promise.allSettled([
    ...[1n, 2n, 3n].map((serial) => state.create(id, `x${serial}`, { serial })),
    state.workspaceState.sealLock(seal),
    ...[4n, 5n, 6n].map((serial) => state.create(id, `x${serial}`, { serial })),
  ]);
  const pending = await state.versions.listStateVersions({ workspaceId: id, status: "pending" });
  expect(pending.totalCount).toBe(0);
});

test("a download requires the right to read the state", async () => {
  const id = state.lockedWorkspace();
  const { stateVersion, internalUploadPath } = await state.create(id, "x");
  const versionId = stateVersion?.id as `sv-${string}`;
  const download = async (who: Parameters<typeof state.callerOf>[0], kind: "raw" | "json") =>
    authorizeDownload(state.app, await state.callerOf(who), versionId, kind);
  await expect(download(owner, "raw")).rejects.toMatchObject({ kind: "notFound" });
  const attempt = state.attemptOf("x");
  await state.put(internalUploadPath, "x", attempt);
  expect(await download(reader, "raw")).toEqual({
    organizationId: "org-1",
    blobKey: attempt.blobKey,
    size: 1,
    digest: attempt.md5,
    filename: `${versionId}.tfstate`,
  });
  await expect(download(owner, "json")).rejects.toMatchObject({ kind: "notFound" });
  await expect(download(outsider, "raw")).rejects.toMatchObject({ kind: "notFound" });
});

test("the right to write is checked when the content has arrived, by the token of the creation", async () => {
  proves("Upload/rights at the end");
  const id = state.lockedWorkspace();
  const { internalUploadPath: url } = await state.create(id, "x");
  const creation = state.app.authenticateCreator;
  const tokens: (string | null)[] = [];
  state.app.authenticateCreator = (creator) => {
    tokens.push(creator.createdTokenId);
    return creation(creator);
  };
  onTestFinished(() => {
    state.app.authenticateCreator = creation;
  });
  await state.put(url, "x");
  expect(tokens).toEqual([owner.tokenId]);
});

test.each([
  ["a revoked token", { ...owner, tokenId: "at-revoked" }, "notFound"],
  ["no token", { ...owner, tokenId: undefined }, "notFound"],
])("a version created with %s", async (_, creator, expected) => {
  const id = state.lockedWorkspace();
  const versions = createClient(StateVersionService, state.channel, state.as(creator));
  const { internalUploadPath: url, stateVersion } = await versions.createStateVersion({
    workspaceId: id,
    serial: 1n,
    lineage: "a",
    md5: md5Of("x"),
  });
  const outcome = await state.put(url, "x").then(
    (done) => done.outcome,
    ({ kind }) => kind,
  );
  expect(outcome).toBe(expected);
  expect(
    (await state.versions.getStateVersion({ id: stateVersion?.id ?? "" })).stateVersion?.status,
  ).toBe(expected === "stored" ? "finalized" : "pending");
});
