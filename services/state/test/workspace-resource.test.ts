import { WorkspaceResourceService } from "@statehouse/proto/statehouse/state/v1/workspace_resource";
import { createClient } from "@statehouse/rpc";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, expect, test } from "vitest";
import { claimExtraction, failExtraction, storeExtraction } from "../extraction/app.ts";
import { packed } from "../state-file/packed-extraction-domain.ts";
import { purgeDroppedWorkspaces } from "../workspace-state/app.ts";
import { digestKey, extractStateFile } from "./extract.ts";
import { type RunningState, runState } from "./running-state.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

const stateOf = (instances: Record<string, string>, serial = 1) =>
  JSON.stringify({
    version: 4,
    serial,
    resources: Object.entries(instances).map(([name, content]) => ({
      mode: "managed",
      type: "aws_instance",
      name,
      provider: 'provider["registry.terraform.io/hashicorp/aws"]',
      instances: [{ attributes: { content } }],
    })),
  });

/** Creates a version, uploads its state and, by default, extracts it; returns the version's id. */
async function written(
  owned: RunningState,
  workspaceId: string,
  content: string,
  { serial = 1n, inline = true, read = true } = {},
): Promise<string> {
  const id = await owned.write(workspaceId, content, { serial, inline });
  if (read) await extract(owned, content);
  return id;
}

/** Extracts the state that waits for extraction; there must be only one. */
async function extract(owned: RunningState, content: string): Promise<void> {
  const claim = await claimExtraction(owned.app);
  if (!claim) throw new Error("nothing waits");
  await storeExtraction(owned.app, claim, packed(extractStateFile(content), digestKey));
}

async function resourcesOf(owned: RunningState, workspaceId: string) {
  const client = createClient(WorkspaceResourceService, owned.channel, owned.identity);
  const page = { pageNumber: 1, pageSize: 100 };
  return (await client.listWorkspaceResources({ workspaceId, ...page })).resources;
}

test("resources keep their id and creation time, and name the version that changed them last", async () => {
  proves("Workspace resources/what changed them last");
  const workspaceId = state.lockedWorkspace();
  const first = await written(state, workspaceId, stateOf({ a: "1", b: "1", c: "1" }));
  const before = await resourcesOf(state, workspaceId);
  expect(before).toMatchObject([
    { address: "aws_instance.a", modifiedByStateVersionId: first },
    { address: "aws_instance.b", modifiedByStateVersionId: first },
    { address: "aws_instance.c", modifiedByStateVersionId: first },
  ]);
  expect(before[0]?.createdAt).toEqual(before[0]?.updatedAt);
  state.pass(1000);
  const second = await written(state, workspaceId, stateOf({ a: "1", b: "2", d: "1" }, 2), {
    serial: 2n,
  });
  const [a, b, d, ...more] = await resourcesOf(state, workspaceId);
  expect(more).toEqual([]);
  expect(a).toEqual(before[0]);
  expect(b).toMatchObject({ id: before[1]?.id, createdAt: before[1]?.createdAt });
  expect(b?.modifiedByStateVersionId).toBe(second);
  expect(b?.updatedAt).not.toEqual(before[1]?.updatedAt);
  expect(d).toMatchObject({ address: "aws_instance.d", modifiedByStateVersionId: second });
});

test("resources are those of the current version, regardless of the order of extraction", async () => {
  proves("Workspace resources/what changed them last");
  await using own = await runState({ edition: "hosted" });
  const workspaceId = own.lockedWorkspace();
  await written(own, workspaceId, stateOf({ a: "1" }));
  const snapshot = stateOf({ b: "1" }, 2);
  await written(own, workspaceId, snapshot, { serial: 2n, inline: false });
  expect(await resourcesOf(own, workspaceId)).toMatchObject([{ address: "aws_instance.a" }]);
  const events = await own.events(workspaceId);
  await own.workspaceState.sealLock({ workspaceId, epoch: 10n });
  // A snapshot that becomes current is extracted again.
  await extract(own, snapshot);
  expect(await resourcesOf(own, workspaceId)).toMatchObject([{ address: "aws_instance.b" }]);
  expect(await claimExtraction(own.app)).toBeUndefined();
  expect(await own.events(workspaceId)).toEqual([...events, "workspace-state.changed"]);
});

test("an unreadable current state has no resources", async () => {
  proves("Workspace resources/what changed them last");
  await using own = await runState();
  const workspaceId = own.lockedWorkspace();
  await written(own, workspaceId, stateOf({ a: "1" }));
  const versionId = await written(own, workspaceId, "not json", { serial: 2n, read: false });
  const claim = await claimExtraction(own.app);
  if (!claim) throw new Error("nothing waits");
  await failExtraction(own.app, claim, { reason: "no state", fault: "content" });
  expect(await resourcesOf(own, workspaceId)).toEqual([]);
  const { stateVersion } = await own.versions.getStateVersion({ id: versionId });
  expect(stateVersion).toMatchObject({ resourcesProcessed: true, resourcesJson: "[]" });
});

test("the result of an extraction remains if a second extraction fails", async () => {
  await using own = await runState({ edition: "hosted" });
  const workspaceId = own.lockedWorkspace();
  const versionId = await written(own, workspaceId, stateOf({ a: "1" }), { inline: false });
  const shown = async () =>
    (await own.versions.getStateVersion({ id: versionId })).stateVersion?.resourcesJson;
  const before = await shown();
  await own.workspaceState.sealLock({ workspaceId, epoch: 10n });
  const claim = await claimExtraction(own.app);
  if (!claim) throw new Error("nothing waits");
  await failExtraction(own.app, claim, { reason: "no memory", fault: "content" });
  expect(await shown()).toEqual(before);
  expect(JSON.parse(before ?? "")).toHaveLength(1);
  expect(await claimExtraction(own.app)).toBeUndefined();
});

test("addresses of any length are stored", async () => {
  const workspaceId = state.lockedWorkspace();
  const names = ["x".repeat(10_000), `${"x".repeat(9_999)}y`];
  await written(state, workspaceId, stateOf(Object.fromEntries(names.map((name) => [name, "1"]))));
  const found = await resourcesOf(state, workspaceId);
  expect(found.map(({ name }) => name).toSorted()).toEqual(names);
});

test("the resources of a dropped workspace are deleted", async () => {
  await using own = await runState();
  const workspaceId = own.lockedWorkspace();
  await written(own, workspaceId, stateOf({ a: "1" }));
  await own.workspaceState.dropWorkspace({ workspaceId });
  while (await purgeDroppedWorkspaces(own.app)) await Promise.resolve();
  expect(await own.database.query("select id from workspace_resources", [])).toEqual([]);
});
