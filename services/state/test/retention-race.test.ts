import { BackingDataService } from "@statehouse/proto/statehouse/state/v1/backing_data";
import { createClient } from "@statehouse/rpc";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WorkspaceId } from "../ids-domain.ts";
import { age, collect, statuses, written } from "./retained.ts";
import { type RunningState, runState } from "./running-state.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

/** Collects the workspace's due versions, and runs `meanwhile` after they were found and before they are locked. */
function collectAfter(workspaceId: WorkspaceId, meanwhile: () => Promise<unknown>) {
  const { reads } = state.app;
  const listDue: typeof reads.retention.listDue = async (...search) => {
    const found = await reads.retention.listDue(...search);
    await meanwhile();
    return found;
  };
  const app = { ...state.app, reads: { ...reads, retention: { ...reads.retention, listDue } } };
  return collect({ ...state, app }, [workspaceId]);
}

describe("while a collection runs", () => {
  test("a policy change is effective, although an answer with the old policy is in transit", async () => {
    proves("Data retention/a policy that changes meanwhile");
    const { workspaceId, ids } = await written(state, 2);
    await age(state, ids, 31);
    state.fakes.retain(workspaceId, { days: 30 });
    state.fakes.meanwhile(async () => {
      const version = state.fakes.retain(workspaceId, {});
      await state.retention.raiseRetentionVersion({ version });
    });
    expect(await collect(state, [workspaceId])).toMatchObject({ ids: [], kept: ["notDue"] });
    expect(await statuses(state, workspaceId)).toEqual(["finalized", "finalized"]);
  });

  test.each([
    [
      "copied by a rollback",
      "shared",
      (workspaceId: string, id: string) =>
        state.versions.rollbackStateVersion({ workspaceId, rollbackStateVersionId: id }),
    ],
    [
      "permanently deleted by a user",
      "noContents",
      async (_: string, id: string) => {
        const actions = createClient(BackingDataService, state.channel, state.identity);
        await actions.softDeleteBackingData({ stateVersionId: id });
        await actions.permanentlyDeleteBackingData({ stateVersionId: id });
      },
    ],
    [
      "dropped with its workspace",
      "dropped",
      (workspaceId: string) => state.workspaceState.dropWorkspace({ workspaceId }),
    ],
  ])("a version that is %s after it was found due is kept", async (_, reason, meanwhile) => {
    proves("Data retention/what is copied, deleted or dropped after it was found due");
    const { workspaceId, ids } = await written(state, 2);
    await age(state, ids, 31);
    state.fakes.retain(workspaceId, { days: 30 });
    const collected = await collectAfter(workspaceId, () => meanwhile(workspaceId, ids[0] ?? ""));
    expect(collected).toMatchObject({ ids: [], kept: [reason] });
    expect(await state.events(workspaceId)).not.toContain("state-versions.collected");
  });

  test("a version whose row was deleted after it was found due is not counted as kept", async () => {
    const { workspaceId, ids } = await written(state, 2);
    await age(state, ids, 31);
    state.fakes.retain(workspaceId, { days: 30 });
    const remove = () => state.database.query("delete from state_versions where id = $1", [ids[0]]);
    expect(await collectAfter(workspaceId, remove)).toMatchObject({ ids: [], kept: [] });
  });

  test("an answer that is an hour old is requested again", async () => {
    const { workspaceId, ids } = await written(state, 2);
    await age(state, ids, 31);
    state.fakes.retain(workspaceId, { days: 30 });
    state.fakes.meanwhile(async () => {
      // Simulates a workspaces service that changed the policy and crashed before it called the state service.
      state.fakes.retain(workspaceId, { days: 99 });
      state.pass(60 * 60_000);
    });
    expect(await collect(state, [workspaceId])).toMatchObject({ ids: [] });
    expect(await statuses(state, workspaceId)).toEqual(["finalized", "finalized"]);
  });

  test("an answer older than the announced version deletes nothing and is logged as an error", async () => {
    await using own = await runState();
    const { workspaceId, ids } = await written(own, 2);
    await age(own, ids, 31);
    const version = own.fakes.retain(workspaceId, { days: 30 });
    await own.retention.raiseRetentionVersion({ version: version + 1000n });
    await own.retention.raiseRetentionVersion({ version });
    await expect(collect(own, [workspaceId])).rejects.toThrow("retention version decreased");
    expect(await statuses(own, workspaceId)).toEqual(["finalized", "finalized"]);
  });

  test("a policy change waits only for batches that use the old policy", async () => {
    const { workspaceId, ids } = await written(state, 2);
    const raised = Promise.withResolvers<void>();
    let acknowledged = false;
    await state.app.transaction(async (tx) => {
      await tx.retention.getVersion();
      void state.retention.raiseRetentionVersion({ version: 2n }).then(() => {
        acknowledged = true;
        raised.resolve();
      });
      await state.versions.getStateVersion({ id: ids[0] ?? "" });
      expect(acknowledged).toBe(false);
    });
    await raised.promise;
    expect(await statuses(state, workspaceId)).toEqual(["finalized", "finalized"]);
  });

  test("a workspace that another transaction has locked is left to the next scan", async () => {
    const [busy, free] = [await written(state, 2), await written(state, 2)];
    for (const { ids, workspaceId } of [busy, free]) {
      await age(state, ids, 31);
      state.fakes.retain(workspaceId, { days: 30 });
    }
    const both = [busy.workspaceId, free.workspaceId];
    await state.app.transaction(async (tx) => {
      await tx.workspaceStates.findForUpdate({ workspaceId: busy.workspaceId });
      expect(await collect(state, both)).toMatchObject({ ids: [free.ids[0]], kept: ["busy"] });
    });
    expect((await collect(state, both)).ids).toEqual([busy.ids[0]]);
  });

  test("concurrent collections delete each version once", async () => {
    proves("Data retention/in batches, resumable, by any number of replicas");
    const workspaces = await Promise.all([written(state, 4), written(state, 4), written(state, 4)]);
    for (const { ids, workspaceId } of workspaces) {
      await age(state, ids, 31);
      state.fakes.retain(workspaceId, { days: 30 });
    }
    const all = workspaces.map(({ workspaceId }) => workspaceId);
    const rounds = await Promise.all([
      collect(state, all),
      collect(state, all),
      collect(state, all),
    ]);
    const last = await collect(state, all);
    const ids = [...rounds, last].flatMap((round) => round.ids);
    expect(ids).toHaveLength(9);
    expect(new Set(ids).size).toBe(9);
    const [row] = await state.database.query<{ count: number }>(
      `select count(*) as count from blobs where workspace_id = any($1) and "references" <> 1`,
      [all],
    );
    expect(row?.count).toBe(0);
  });
});
