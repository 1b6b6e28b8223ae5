import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { claimExtraction, storeExtraction } from "../extraction/app.ts";
import { extractionOf } from "./extract.ts";
import { refusal } from "./refusal.ts";
import { type RunningState, runState } from "./running-state.ts";
import { owner } from "./service-fakes.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

const outputs = {
  plain: { value: "v", type: "string" },
  secret: { value: "nobody's", type: "string", sensitive: true },
};

const extraction = extractionOf(outputs);

/** Creates a locked workspace with two versions. */
async function twoVersions() {
  const workspaceId = state.lockedWorkspace();
  const first = await state.write(workspaceId, "x");
  return { workspaceId, first, second: await state.write(workspaceId, "y", { serial: 2n }) };
}

async function extract(versionId: string) {
  for (;;) {
    const claim = await claimExtraction(state.app);
    if (!claim) throw new Error("nothing waits");
    if (claim.versionId === versionId) return storeExtraction(state.app, claim, extraction);
  }
}

const rollBack = async (workspaceId: string, rollbackStateVersionId: string) =>
  (await state.versions.rollbackStateVersion({ workspaceId, rollbackStateVersionId })).stateVersion;

const references = async (versionId: string) =>
  (
    await state.database.query<{ references: number }>(
      `select "references" from blobs join state_versions on key in (blob_key, json_blob_key)
       where id = $1 order by key`,
      [versionId],
    )
  ).map((row) => row.references);

describe("a rollback", () => {
  test("creates a finalized, current copy with the next serial and the source's blob", async () => {
    proves("Rollback/PATCH");
    const { workspaceId, first } = await twoVersions();
    const copy = await rollBack(workspaceId, first);
    const { stateVersion: source } = await state.versions.getStateVersion({ id: first });
    expect(copy).toMatchObject({
      serial: 3n,
      status: "finalized",
      intermediate: false,
      rollbackStateVersionId: first,
      md5: source?.md5,
      lineage: source?.lineage,
      size: 1n,
      createdById: owner.id,
      uploadUrl: "",
      jsonUploadUrl: "",
      downloadUrl: `https://state.example/v1/object/${copy?.id}`,
      jsonDownloadUrl: "",
    });
    const { stateVersion: current } = await state.versions.getCurrentStateVersion({ workspaceId });
    expect(current).toEqual(copy);
    expect(await references(first)).toEqual([2]);
    expect((await state.events(workspaceId)).slice(-3)).toEqual([
      "state-version.created",
      "state-version.finalized",
      "workspace-state.changed",
    ]);
  });

  test("shares the JSON form, and copies outputs and resources with newly sealed values", async () => {
    proves("Rollback/PATCH");
    const workspaceId = state.lockedWorkspace();
    const created = await state.create(workspaceId, "x");
    await state.put(created.internalJsonUploadPath, "{}");
    await state.put(created.internalUploadPath, "x");
    const first = created.stateVersion?.id ?? "";
    await extract(first);
    await state.write(workspaceId, "y", { serial: 2n });
    const copy = await rollBack(workspaceId, first);
    expect(copy).toMatchObject({
      resourcesProcessed: true,
      engineVersion: "1.11.0",
      formatVersion: 4,
      modulesJson: expect.stringContaining("terraform_data"),
      jsonDownloadUrl: expect.stringContaining(`${copy?.id}/json`),
    });
    expect(JSON.parse(copy?.resourcesJson ?? "")).toEqual(JSON.parse(extraction.resources));
    expect(await references(first)).toEqual([2, 2]);
    const listed = await state.outputs.listStateVersionOutputs({ stateVersionId: copy?.id ?? "" });
    expect(listed.outputs.map(({ name }) => name)).toEqual(["plain", "secret"]);
    const secret = listed.outputs.find(({ sensitive }) => sensitive);
    const { output } = await state.outputs.getStateVersionOutput({ id: secret?.id ?? "" });
    expect(JSON.parse(output?.valueJson ?? "")).toBe("nobody's");
    expect((await state.events(workspaceId)).slice(-4)).toEqual([
      "state-version.created",
      "state-version.finalized",
      "state-version.processed",
      "workspace-state.changed",
    ]);
  });

  test("of a version that is not extracted is extracted itself", async () => {
    const { workspaceId, first } = await twoVersions();
    const copy = await rollBack(workspaceId, first);
    expect(copy?.resourcesProcessed).toBe(false);
    await extract(copy?.id ?? "");
    const { outputs: found } = await state.outputs.listCurrentOutputs({ workspaceId });
    expect(found).toHaveLength(2);
  });

  test("is created once by repeated and concurrent requests until another version follows", async () => {
    const { workspaceId, first } = await twoVersions();
    const copies = await Promise.all([1, 2, 3, 4].map(() => rollBack(workspaceId, first)));
    expect(new Set(copies.map((copy) => copy?.id)).size).toBe(1);
    expect(await references(first)).toEqual([2]);
    await state.write(workspaceId, "z", { serial: 4n });
    expect((await rollBack(workspaceId, first))?.serial).toBe(5n);
    expect(await references(first)).toEqual([3]);
  });

  test("of a rollback is a copy of the same blob", async () => {
    const { workspaceId, first, second } = await twoVersions();
    const copy = await rollBack(workspaceId, first);
    await rollBack(workspaceId, second);
    await rollBack(workspaceId, copy?.id ?? "");
    expect(await references(first)).toEqual([3]);
  });
});

describe("a rollback is refused", () => {
  test("under a lock that was released", async () => {
    proves("Rollback/locked by the caller");
    const { workspaceId, first } = await twoVersions();
    await state.workspaceState.sealLock({ workspaceId, epoch: 10n });
    expect(await refusal(rollBack(workspaceId, first))).toBe("conflict lock_sealed");
  });
});
