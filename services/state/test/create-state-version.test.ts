import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusal } from "./refusal.ts";
import { type RunningState, runState } from "./running-state.ts";
import { owner } from "./service-fakes.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

describe("within one lock epoch", () => {
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

  test("a newer version discards the pending one; a repeated create request of the pending one is then refused, forced or not", async () => {
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

  test("a repeated create request of a superseded or expired version is refused, forced or not", async () => {
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
