import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusal } from "./refusal.ts";
import { md5Of, type RunningState, runState } from "./running-state.ts";
import { organizationToken, otherOwner, outsider, owner, reader } from "./service-fakes.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

const request = (workspaceId: string, serial = 1n) => ({
  workspaceId,
  serial,
  md5: md5Of("x"),
  lineage: "a",
});

describe("creating a state version", () => {
  test("is refused while the workspace is not locked", async () => {
    const id = state.lockedWorkspace();
    state.fakes.unlock(id);
    expect(await refusal(state.create(id, "x"))).toBe("precondition workspace_not_locked");
  });

  test("is refused if another holder has the lock", async () => {
    proves("State version creation rules/locked by the caller");
    const id = state.lockedWorkspace();
    state.fakes.lock(id, otherOwner, 10n);
    expect(await refusal(state.create(id, "x"))).toBe("conflict workspace_locked");
  });

  test.each([
    ["a reader", reader, "forbidden not_allowed"],
    ["a user without access", outsider, "notFound not_found"],
    ["an organization token", organizationToken, "forbidden organization_token"],
  ])("is refused to %s", async (_, principal, expected) => {
    proves("State version creation rules/not with an organization's token");
    const id = state.lockedWorkspace();
    state.fakes.lock(id, principal, 10n);
    const call = state.versions.createStateVersion(request(id), state.as(principal));
    expect(await refusal(call)).toBe(expected);
  });

  test("returns not found for an unknown workspace", async () => {
    expect(await refusal(state.create("ws-none", "x"))).toBe("notFound not_found");
    expect(await refusal(state.create("nonsense", "x"))).toBe("notFound not_found");
  });
});

test("reports all malformed attributes", async () => {
  proves("State version creation/serial");
  const id = state.lockedWorkspace();
  const max = state.app.settings.maxStateBytes;
  const call = state.versions.createStateVersion({
    ...request(id, 2n ** 60n),
    md5: "no",
    inlineSize: BigInt(max) + 1n,
    inlineJsonSize: BigInt(max) + 1n,
  });
  await expect(call).rejects.toMatchObject({
    kind: "invalid",
    fields: [
      { field: "serial" },
      { field: "md5" },
      { field: "inlineSize", detail: `State is too large (maximum is ${max} bytes)` },
      { field: "inlineJsonSize", detail: `JSON state is too large (maximum is ${max} bytes)` },
    ],
  });
  expect((await state.versions.listStateVersions({ workspaceId: id })).totalCount).toBe(0);
  const outputs = state.versions.createStateVersion({
    ...request(id),
    jsonStateOutputs: new TextEncoder().encode("[1]"),
  });
  await expect(outputs).rejects.toMatchObject({ fields: [{ field: "jsonStateOutputs" }] });
});

test("creates a pending version with upload URLs for its creator and no download URL", async () => {
  proves("State version status/(none), create without state");
  const id = state.lockedWorkspace();
  const { stateVersion } = await state.create(id, "x", { serial: 4n, lineage: "b" });
  expect(stateVersion).toMatchObject({
    workspaceId: id,
    status: "pending",
    serial: 4n,
    lineage: "b",
    md5: md5Of("x"),
    createdByType: "user",
    createdById: owner.id,
    intermediate: false,
    resourcesProcessed: false,
    downloadUrl: "",
    jsonDownloadUrl: "",
    allowedActions: [
      "state:read",
      "state:read-outputs",
      "state:write",
      "state:manage-backing-data",
    ],
  });
  expect(stateVersion?.uploadUrl).toMatch(/^https:\/\/state\.example\/v1\/object\/k1\./);
  const read = await state.versions.getStateVersion({ id: stateVersion?.id ?? "" });
  expect(read.stateVersion).toEqual(stateVersion);
  const seen = await state.versions.getStateVersion(
    { id: stateVersion?.id ?? "" },
    state.as(reader),
  );
  expect(seen.stateVersion).toMatchObject({ uploadUrl: "", jsonUploadUrl: "" });
  expect(await state.events(id)).toEqual(["state-version.created"]);
});

describe("within one lock epoch", () => {
  test("a repeat returns the same version while it is pending and when it is finalized", async () => {
    const id = state.lockedWorkspace();
    const first = await state.create(id, "x");
    expect(await state.create(id, "x")).toEqual(first);
    await state.put(first.internalUploadPath, "x");
    const repeat = await state.create(id, "x");
    expect(repeat.stateVersion).toMatchObject({ id: first.stateVersion?.id, status: "finalized" });
    // The client of the repeated request uploads its inline state again, and the upload URL returns 200 again.
    const { outcome } = await state.put(repeat.internalUploadPath, "x");
    expect(outcome).toBe("alreadyStored");
  });

  test("parallel requests create one version", async () => {
    proves("State version creation rules/a repeat answers the");
    const id = state.lockedWorkspace();
    const answers = await Promise.all(Array.from({ length: 10 }, () => state.create(id, "x")));
    expect(new Set(answers.map(({ stateVersion }) => stateVersion?.id)).size).toBe(1);
  });

  test("parallel requests with different contents leave one pending version", async () => {
    proves("State version status/pending, superseded by a newer version");
    const id = state.lockedWorkspace();
    const serials = [1n, 2n, 3n, 4n, 5n, 6n];
    await Promise.allSettled(serials.map((serial) => state.create(id, `x${serial}`, { serial })));
    const { totalCount } = await state.versions.listStateVersions({
      workspaceId: id,
      status: "pending",
    });
    expect(totalCount).toBe(1);
  });

  test("a newer version discards the pending one, whose repeat is then refused, forced or not", async () => {
    proves("State version status/pending, superseded by a newer version");
    const id = state.lockedWorkspace();
    const old = await state.create(id, "x");
    await state.create(id, "y", { serial: 2n });
    const { stateVersion } = await state.versions.getStateVersion({
      id: old.stateVersion?.id ?? "",
    });
    expect(stateVersion).toMatchObject({ status: "discarded", uploadUrl: "" });
    expect(await refusal(state.create(id, "x"))).toBe("conflict state_version_superseded");
    expect(await refusal(state.create(id, "x", { force: true }))).toBe(
      "conflict state_version_superseded",
    );
    expect(await refusal(state.put(old.internalUploadPath, "x"))).toBe(
      "conflict state_version_discarded",
    );
    expect(await state.events(id)).toEqual([
      "state-version.created",
      "state-version.discarded",
      "state-version.created",
    ]);
  });

  test("a repeat of a superseded or expired version is refused, forced or not", async () => {
    proves("State version creation rules/a repeat of what was superseded or discarded");
    await using own = await runState();
    const id = own.lockedWorkspace();
    const old = await own.create(id, "x");
    await own.put(old.internalUploadPath, "x");
    const newer = await own.create(id, "y", { serial: 2n });
    await own.put(newer.internalUploadPath, "y");
    await own.create(id, "z", { serial: 3n });
    own.pass(own.app.settings.pendingWindowMs);
    for (const force of [false, true]) {
      for (const repeat of [
        () => own.create(id, "x", { force }),
        () => own.create(id, "z", { serial: 3n, force }),
      ]) {
        expect(await refusal(repeat())).toBe("conflict state_version_superseded");
      }
    }
    const { stateVersion } = await own.versions.getCurrentStateVersion({ workspaceId: id });
    expect(stateVersion?.id).toBe(newer.stateVersion?.id);
  });

  test.each([
    ["the same serial with other content", { serial: 5n }, "conflict serial_conflict"],
    ["the same, forced", { serial: 5n, force: true }, "accepted"],
    ["a lower serial", { serial: 4n }, "conflict serial_conflict"],
    ["another lineage", { serial: 6n, lineage: "b" }, "conflict lineage_conflict"],
    ["another lineage, forced", { serial: 6n, lineage: "b", force: true }, "accepted"],
    ["no lineage", { serial: 6n, lineage: "" }, "accepted"],
    ["the next serial", { serial: 6n }, "accepted"],
  ])("%s: %o is %s", async (_, more, expected) => {
    const id = state.lockedWorkspace();
    await state.write(id, "x", { serial: 5n });
    expect(await refusal(state.create(id, "y", more))).toBe(expected);
  });
});

describe("the first version of a later lock epoch", () => {
  test.each([
    ["the same content again", "x", { serial: 5n }, "accepted"],
    ["a lower serial of the same lineage", "y", { serial: 3n }, "accepted"],
    ["an equal serial of the same lineage", "y", { serial: 5n }, "accepted"],
    [
      "a lower serial without lineage",
      "y",
      { serial: 3n, lineage: "" },
      "conflict serial_conflict",
    ],
    ["another lineage", "y", { serial: 9n, lineage: "b" }, "conflict lineage_conflict"],
    ["another lineage, forced", "y", { serial: 1n, lineage: "b", force: true }, "accepted"],
  ])("%s", async (_, bytes, more, expected) => {
    const id = state.lockedWorkspace(10n);
    await state.write(id, "x", { serial: 5n });
    await state.workspaceState.sealLock({ workspaceId: id, epoch: 10n });
    state.fakes.lock(id, owner, 11n);
    expect(await refusal(state.create(id, bytes, more))).toBe(expected);
  });
});
