import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { refusal } from "./refusal.ts";
import { md5Of, type RunningState, runState } from "./running-state.ts";
import { otherOwner, owner, reader } from "./service-fakes.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

const bytesOf = (text: string) => new TextEncoder().encode(text);
const requestOf = (workspaceId: string, bytes: string, serial = 1n) => ({
  workspaceId,
  serial,
  md5: md5Of(bytes),
  lineage: "a",
  inlineSize: BigInt(bytes.length),
  inlineState: bytesOf(bytes),
});
const create = (workspaceId: string, bytes: string, serial?: bigint) =>
  state.versions.createStateVersion(requestOf(workspaceId, bytes, serial));
const current = async (workspaceId: string) =>
  (await state.versions.getCurrentStateVersion({ workspaceId })).stateVersion;

async function keys(): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of state.store.list()) found.push(key);
  return found;
}
const keysOf = async (workspaceId: string) =>
  (await keys()).filter((key) => key.startsWith(`${workspaceId}/`));

beforeEach(() => proves("State version creation/state: optional Base64"));

test("state in the create call is stored and finalized with one transaction", async () => {
  const id = state.lockedWorkspace();
  await create(id, "w");
  state.statements.length = 0;
  const { stateVersion, contentsStored } = await create(id, "x", 2n);
  const count = (command: string) =>
    state.statements.filter((sql) => sql.toLowerCase().startsWith(command)).length;
  expect([count("begin"), count("commit")]).toEqual([1, 1]);
  expect(contentsStored).toBe(true);
  expect(stateVersion).toMatchObject({ status: "finalized", size: 1n, intermediate: false });
  expect(await current(id)).toEqual(stateVersion);
  expect(await keysOf(id)).toHaveLength(2);
  expect((await state.events(id)).slice(3)).toEqual([
    "state-version.created",
    "state-version.finalized",
    "workspace-state.changed",
  ]);
});

test("both contents in the create call are stored", async () => {
  const id = state.lockedWorkspace();
  const request = { ...requestOf(id, "x"), inlineJsonState: bytesOf("{}") };
  const { stateVersion } = await state.versions.createStateVersion(request);
  expect(stateVersion?.status).toBe("finalized");
  expect(stateVersion?.jsonDownloadUrl).not.toBe("");
  const names = (await keysOf(id)).map((key) => key.split("/").at(-1)?.split("-", 1)[0]);
  expect(names).toEqual(["json", "raw"]);
  const repeated = await state.versions.createStateVersion(request);
  expect(repeated.stateVersion).toEqual(stateVersion);
});

test.each([
  ["from a reader", () => {}, reader, "forbidden not_allowed"],
  [
    "without the lock",
    (id: string) => state.fakes.lock(id, otherOwner, 10n),
    owner,
    "conflict workspace_locked",
  ],
  [
    "to an unlocked workspace",
    (id: string) => state.fakes.unlock(id),
    owner,
    "precondition workspace_not_locked",
  ],
])("a create call %s stores no bytes", async (_, prepare, principal, expected) => {
  const id = state.lockedWorkspace();
  prepare(id);
  const puts: string[] = [];
  const put = state.store.put;
  state.store.put = (key, ...rest) => {
    puts.push(key);
    return put.call(state.store, key, ...rest);
  };
  const call = state.versions.createStateVersion(requestOf(id, "x"), state.as(principal));
  expect(await refusal(call)).toBe(expected);
  state.store.put = put;
  expect(puts).toEqual([]);
});

test("bytes of another md5 are refused and not kept", async () => {
  const id = state.lockedWorkspace();
  const request = { ...requestOf(id, "x"), md5: md5Of("y") };
  expect(await refusal(state.versions.createStateVersion(request))).toBe("conflict md5_mismatch");
  expect(await keysOf(id)).toEqual([]);
  expect((await state.versions.listStateVersions({ workspaceId: id })).totalCount).toBe(0);
});

test("the bytes of a refused version and of a repeat are deleted", async () => {
  const id = state.lockedWorkspace();
  const { stateVersion } = await create(id, "x", 5n);
  const kept = await keysOf(id);
  expect(kept).toHaveLength(1);
  expect(await refusal(create(id, "y", 4n))).toBe("conflict serial_conflict");
  expect((await create(id, "x", 5n)).stateVersion).toEqual(stateVersion);
  await waitFor(async () => (await keysOf(id)).length === 1);
  expect(await keysOf(id)).toEqual(kept);
});

test("a repeat with the state finalizes the pending version", async () => {
  const id = state.lockedWorkspace();
  const pending = await state.create(id, "x");
  const { stateVersion } = await create(id, "x");
  expect(stateVersion).toMatchObject({ id: pending.stateVersion?.id, status: "finalized" });
  expect((await current(id))?.id).toBe(stateVersion?.id);
});

test("parallel calls of the same request create one version with one blob", async () => {
  const id = state.lockedWorkspace();
  const answers = await Promise.all(Array.from({ length: 6 }, () => create(id, "x")));
  expect(new Set(answers.map(({ stateVersion }) => stateVersion?.id)).size).toBe(1);
  await waitFor(async () => (await keysOf(id)).length === 1);
});

test("a write after the seal is refused, and its bytes are deleted", async () => {
  const id = state.lockedWorkspace();
  await create(id, "x");
  await state.workspaceState.sealLock({ workspaceId: id, epoch: 10n, discardPending: true });
  expect(await refusal(create(id, "y", 2n))).toBe("conflict lock_sealed");
  await waitFor(async () => (await keysOf(id)).length === 1);
});
