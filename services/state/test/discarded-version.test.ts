import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { claimBlobDeletions } from "../blob/app.ts";
import { discardExpiredVersions } from "../discarded-version/app.ts";
import { ownedKeys } from "./retained.ts";
import { md5Of, type RunningState, runState } from "./running-state.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

/** Creates a pending version with a JSON form and outputs, in a workspace that has a state. */
async function halfThere() {
  const workspaceId = state.lockedWorkspace();
  const before = await state.write(workspaceId, "before");
  const created = await state.versions.createStateVersion({
    workspaceId,
    serial: 2n,
    lineage: "a",
    md5: md5Of("never comes"),
    jsonStateOutputs: new TextEncoder().encode('{"o":{"value":"secret","sensitive":true}}'),
  });
  const json = state.attemptOf("{}");
  await state.put(created.internalJsonUploadPath, "{}", json);
  const id = created.stateVersion?.id ?? "";
  const { outputs } = await state.outputs.listStateVersionOutputs({ stateVersionId: id });
  return {
    workspaceId,
    id,
    before,
    jsonUrl: created.internalJsonUploadPath,
    jsonKey: json.blobKey,
    outputId: outputs[0]?.id ?? "",
  };
}

const seal = (workspaceId: string, discardPending: boolean) =>
  state.workspaceState.sealLock({ workspaceId, epoch: 10n, discardPending });

describe("a version that was discarded", () => {
  test.each([
    [
      "superseded by a newer version",
      ({ workspaceId }) => state.create(workspaceId, "newer", { serial: 3n }),
    ],
    [
      "superseded by a rollback",
      ({ workspaceId, before }) =>
        state.versions.rollbackStateVersion({ workspaceId, rollbackStateVersionId: before }),
    ],
    ["by a force-unlock", ({ workspaceId }) => seal(workspaceId, true)],
    [
      "by an unlock after its window",
      async ({ workspaceId }) => {
        state.pass(state.app.settings.pendingWindowMs);
        await seal(workspaceId, false);
      },
    ],
    [
      "after its window",
      async () => {
        state.pass(state.app.settings.pendingWindowMs);
        await discardExpiredVersions(state.app);
      },
    ],
  ] as [string, (half: Awaited<ReturnType<typeof halfThere>>) => Promise<unknown>][])(
    "%s: keeps neither its JSON form nor its outputs",
    async (_, discard) => {
      proves("State version status/discarded");
      const half = await halfThere();
      const { id, jsonKey, jsonUrl, outputId, workspaceId } = half;
      expect((await ownedKeys(state.app, [jsonKey])).size).toBe(1);
      const shown = async () => (await state.versions.getStateVersion({ id })).stateVersion;
      await discard(half);
      expect(await shown()).toMatchObject({ status: "discarded", jsonDownloadUrl: "" });
      expect((await ownedKeys(state.app, [jsonKey])).size).toBe(0);
      expect(await claimBlobDeletions(state.app)).toContainEqual({
        key: jsonKey,
        permanent: false,
      });
      await expect(state.outputs.getStateVersionOutput({ id: outputId })).rejects.toMatchObject({
        kind: "notFound",
      });
      const listed = await state.outputs.listStateVersionOutputs({ stateVersionId: id });
      expect(listed).toMatchObject({ outputs: [], totalCount: 0 });
      // If the version's upload window has ended, its URL has expired too.
      await expect(state.put(jsonUrl, "{}")).rejects.toThrow(/discarded|token/);
      const types = await state.events(workspaceId);
      expect(types.filter((type) => type === "state-version.discarded")).toHaveLength(1);
    },
  );
});
