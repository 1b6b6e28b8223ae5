import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  claimExtraction,
  failExtraction,
  renewExtraction,
  storeExtraction,
} from "../extraction/app.ts";
import { extractionOf } from "./extract.ts";
import { md5Of, type RunningState, runState } from "./running-state.ts";
import { outsider, reader } from "./service-fakes.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

const outputs = {
  plain: { value: "v", type: "string" },
  secret: { value: { a: [1, 2] }, type: ["object", { a: ["list", "number"] }], sensitive: true },
};

const extraction = extractionOf(outputs);

async function finalized(owned = state, bytes = "x") {
  const workspaceId = owned.lockedWorkspace();
  return { workspaceId, versionId: await owned.write(workspaceId, bytes) };
}

/** Claims the extraction of this version. Also claims extractions that other tests left, and abandons those claims. */
async function claimOf(owned: RunningState, versionId: string) {
  for (;;) {
    const claim = await claimExtraction(owned.app);
    if (!claim) throw new Error("nothing waits");
    if (claim.versionId === versionId) return claim;
  }
}

test("outputs are unavailable until extracted, and empty without a version", async () => {
  const empty = state.lockedWorkspace();
  expect(await state.outputs.listCurrentOutputs({ workspaceId: empty })).toMatchObject({
    outputs: [],
    totalCount: 0,
  });
  const { workspaceId, versionId } = await finalized();
  await expect(state.outputs.listCurrentOutputs({ workspaceId })).rejects.toMatchObject({
    kind: "unavailable",
  });
  await storeExtraction(state.app, await claimOf(state, versionId), extraction);
  const list = await state.outputs.listCurrentOutputs({ workspaceId });
  expect(list.totalCount).toBe(2);
  expect(list.outputs).toMatchObject([
    { name: "plain", sensitive: false, type: "string", valueJson: '"v"', workspaceId },
    { name: "secret", sensitive: true, type: "object", stateVersionId: versionId },
  ]);
  expect(list.outputs[1]?.valueJson).toBeUndefined();
  expect(await state.events(workspaceId)).toEqual([
    "state-version.created",
    "state-version.finalized",
    "workspace-state.changed",
    "state-version.processed",
    "workspace-state.changed",
  ]);
});

test("a single sensitive output is returned in clear to callers who may read outputs, and is sealed in its row", async () => {
  proves("Outputs/sensitive");
  const { workspaceId, versionId } = await finalized();
  await storeExtraction(state.app, await claimOf(state, versionId), extraction);
  const { outputs: list } = await state.outputs.listCurrentOutputs({ workspaceId });
  const id = list.find(({ name }) => name === "secret")?.id ?? "";
  const { output } = await state.outputs.getStateVersionOutput({ id }, state.as(reader));
  expect(output?.valueJson).toBe('{"a":[1,2]}');
  const strange = state.outputs.getStateVersionOutput({ id }, state.as(outsider));
  await expect(strange).rejects.toMatchObject({ kind: "notFound" });
  const [row] = await state.database.query<{ value: string | null; sealed_value: string }>(
    "select value, sealed_value from state_version_outputs where id = $1",
    [id],
  );
  expect(row?.value).toBeNull();
  expect(row?.sealed_value).toMatch(/^k1:/);
});

test("outputs of the create request are available immediately, and extraction keeps them", async () => {
  proves("State version creation/json-state-outputs");
  const workspaceId = state.lockedWorkspace();
  const { stateVersion, internalUploadPath } = await state.versions.createStateVersion({
    workspaceId,
    serial: 1n,
    md5: md5Of("x"),
    jsonStateOutputs: new TextEncoder().encode('{"n":{"value":12345678901234567890.10}}'),
  });
  await state.put(internalUploadPath, "x");
  const listed = () => state.outputs.listCurrentOutputs({ workspaceId });
  const first = await listed();
  expect(first.outputs).toMatchObject([
    { name: "n", type: "number", valueJson: "12345678901234567890.10" },
  ]);
  await storeExtraction(state.app, await claimOf(state, stateVersion?.id ?? ""), extraction);
  expect(await listed()).toEqual(first);
});

describe("extraction", () => {
  test("is claimed once, and again after the lease ended; a late result is not stored", async () => {
    proves("Extraction/idempotent, claimed once, taken over from a killed reader");
    await using own = await runState();
    const { workspaceId, versionId } = await finalized(own);
    const late = await claimOf(own, versionId);
    expect(await claimExtraction(own.app)).toBeUndefined();
    own.pass(600_000);
    const claim = await claimOf(own, versionId);
    await storeExtraction(own.app, late, extraction);
    const read = async () =>
      (await own.versions.getCurrentStateVersion({ workspaceId })).stateVersion;
    expect((await read())?.resourcesProcessed).toBe(false);
    await storeExtraction(own.app, claim, extraction);
    const stored = await read();
    expect(stored).toMatchObject({
      resourcesProcessed: true,
      engineVersion: "1.11.0",
      formatVersion: 4,
    });
    expect(JSON.parse(stored?.resourcesJson ?? "")).toMatchObject([
      { type: "terraform_data", count: 3 },
    ]);
    const summary = await own.workspaceState.sealLock({ workspaceId, epoch: 10n });
    expect(summary.summary?.resourceCount).toBe(3);
  });

  test("is taken over soon after its worker was killed, and only then", async () => {
    proves("Extraction/idempotent, claimed once, taken over from a killed reader");
    await using own = await runState();
    const { versionId } = await finalized(own);
    const killed = await claimOf(own, versionId);
    for (let beats = 0; beats < 10; beats++) {
      own.pass(15_000);
      expect(await renewExtraction(own.app, killed)).toBe(true);
      expect(await claimExtraction(own.app)).toBeUndefined();
    }
    own.pass(20_000);
    await claimOf(own, versionId);
    expect(await renewExtraction(own.app, killed)).toBe(false);
  });

  test("of a dropped workspace is not stored and publishes no event", async () => {
    proves("Extraction/idempotent, claimed once, taken over from a killed reader");
    const { workspaceId, versionId } = await finalized();
    const claim = await claimOf(state, versionId);
    await state.workspaceState.dropWorkspace({ workspaceId });
    await storeExtraction(state.app, claim, extraction);
    const rows = await state.database.query(
      "select from state_version_outputs where state_version_id = $1",
      [versionId],
    );
    expect(rows).toEqual([]);
    expect(await state.events(workspaceId)).not.toContain("state-version.processed");
  });

  test("logs a serial that differs from the file and keeps that of the request", async () => {
    proves("State version/serial");
    const { versionId } = await finalized();
    const warnings: unknown[] = [];
    const logger = {
      ...state.app.logger,
      warn: (...warned: unknown[]) => void warnings.push(warned),
    };
    const app = { ...state.app, logger: logger as typeof state.app.logger };
    const found = { ...extraction, serial: 7n };
    await storeExtraction(app, await claimOf(state, versionId), found);
    expect(warnings).toMatchObject([[{ requested: "1", inFile: "7" }, expect.any(String)]]);
    const { stateVersion } = await state.versions.getStateVersion({ id: versionId });
    expect(stateVersion?.serial).toBe(1n);
  });

  test("gives up after a few attempts at a file that crashes its worker; the version counts as managing resources", async () => {
    proves("Extraction/a poisonous file ends as processed, with a reason");
    await using own = await runState();
    const { workspaceId, versionId } = await finalized(own);
    for (let attempts = 1; attempts <= 4; attempts++) {
      const claim = await claimOf(own, versionId);
      await failExtraction(own.app, claim, { reason: "no state", fault: "reading" });
      own.pass(600_000);
    }
    expect(await claimExtraction(own.app)).toBeUndefined();
    await own.workspaceState.sealLock({ workspaceId, epoch: 10n });
    const managed = await own.workspaceState.getManagedResources({ workspaceId, epoch: 11n });
    expect(managed).toMatchObject({ processed: true, resourceCount: 1 });
  });

  test("is retried while only the store is unavailable", async () => {
    proves("Extraction/retried while the store is away");
    await using own = await runState();
    const { workspaceId, versionId } = await finalized(own);
    for (let attempts = 1; attempts <= 10; attempts++) {
      const claim = await claimOf(own, versionId);
      await failExtraction(own.app, claim, { reason: "store", fault: "store" });
      own.pass(600_000);
    }
    await own.workspaceState.sealLock({ workspaceId, epoch: 10n });
    const managed = await own.workspaceState.getManagedResources({ workspaceId, epoch: 11n });
    expect(managed.processed).toBe(false);
    await storeExtraction(own.app, await claimOf(own, versionId), extraction);
  });
});

test("a show takes one statement, and a batch takes one statement for any number of items", async () => {
  const made = [await finalized(), await finalized(), await finalized()];
  const workspaceIds = made.map(({ workspaceId }) => workspaceId);
  const ids = made.map(({ versionId }) => versionId);
  const counted = async (work: () => Promise<unknown>) => {
    state.statements.length = 0;
    await work();
    return state.statements.length;
  };
  const [id = "", workspaceId = ""] = [ids[0], workspaceIds[0]];
  const { versions, outputs: outputsOf } = state;
  expect(await counted(() => versions.getStateVersion({ id }))).toBe(1);
  expect(await counted(() => versions.getCurrentStateVersion({ workspaceId }))).toBe(1);
  expect(await counted(() => versions.listStateVersions({ workspaceId }))).toBe(1);
  expect(await counted(() => versions.batchGetStateVersions({ ids }))).toBe(1);
  expect(await counted(() => outputsOf.batchListCurrentOutputs({ workspaceIds }))).toBe(1);
  const byVersion = { stateVersionIds: ids };
  expect(await counted(() => outputsOf.batchListStateVersionOutputs(byVersion))).toBe(1);
});
