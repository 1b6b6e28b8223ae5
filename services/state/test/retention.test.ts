import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collectWorkspaces } from "../retention/app.ts";
import { age, collect, deletions, gone, statuses, written } from "./retained.ts";
import { type RunningState, runState } from "./running-state.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

describe("a retention policy", () => {
  test("permanently deletes old versions with their bytes, and keeps younger ones and the current one", async () => {
    proves("Data retention/delete-older-than-n-days");
    const { workspaceId, versions, ids } = await written(state, 4);
    await age(state, ids.slice(0, 2), 31);
    state.fakes.retain(workspaceId, { days: 30 });
    expect((await collect(state, [workspaceId])).ids).toEqual(ids.slice(0, 2));
    expect(await statuses(state, workspaceId)).toEqual([gone, gone, "finalized", "finalized"]);
    const [first, second, third] = versions.map(({ key }) => key);
    expect(await deletions(state, [first ?? "", second ?? "", third ?? ""])).toEqual(
      [first, second].sort(),
    );
    const shown = await state.versions.getStateVersion({ id: ids[0] ?? "" });
    expect(shown.stateVersion).toMatchObject({ status: "backing_data_permanently_deleted" });
    expect((await state.events(workspaceId)).slice(-1)).toEqual(["state-versions.collected"]);
    expect((await collect(state, [workspaceId])).ids).toEqual([]);
  });

  test("never deletes the current version or newer ones, regardless of their age", async () => {
    proves("Data retention/never the current version, nor what a rollback shares");
    const { workspaceId, ids } = await written(state, 2);
    const pending = await state.create(workspaceId, "late", { serial: 9n });
    await age(state, [...ids, pending.stateVersion?.id ?? ""], 400);
    state.fakes.retain(workspaceId, { days: 1 });
    expect((await collect(state, [workspaceId])).ids).toEqual([ids[0]]);
    expect(await statuses(state, workspaceId)).toEqual([gone, "finalized", "pending"]);
    const current = await state.versions.getCurrentStateVersion({ workspaceId });
    expect(current.stateVersion?.id).toBe(ids[1]);
  });

  test("also deletes soft-deleted versions and versions of locked workspaces", async () => {
    const { workspaceId, ids } = await written(state, 2);
    await state.database.query(
      `update state_versions set status = 'backing_data_soft_deleted', soft_deleted_at = now()
       where id = $1`,
      [ids[0]],
    );
    await age(state, ids, 31);
    state.fakes.retain(workspaceId, { days: 30 });
    expect((await collect(state, [workspaceId])).ids).toEqual([ids[0]]);
    const rows = await state.database.query(
      "select from state_versions where soft_deleted_at > $1",
      [new Date(0)],
    );
    expect(rows).toEqual([]);
  });

  test("keeps a blob that a rollback shares until the copy is deleted", async () => {
    proves("Data retention/never the current version, nor what a rollback shares");
    const { workspaceId, versions, ids } = await written(state, 2);
    const copied = await state.versions.rollbackStateVersion({
      workspaceId,
      rollbackStateVersionId: ids[0] ?? "",
    });
    const copy = copied.stateVersion?.id ?? "";
    await age(state, [...ids, copy], 31);
    state.fakes.retain(workspaceId, { days: 30 });
    // The current version is a copy of the first one and shares its blob, so the first one is retained too.
    const first = await collect(state, [workspaceId]);
    expect([first.ids, first.kept]).toEqual([[ids[1]], ["shared"]]);
    await state.write(workspaceId, "newest", { serial: 9n });
    expect((await collect(state, [workspaceId])).ids).toEqual([copy]);
    expect(await deletions(state, [versions[0]?.key ?? ""])).toEqual([]);
    expect((await collect(state, [workspaceId])).ids).toEqual([ids[0]]);
    expect(await deletions(state, [versions[0]?.key ?? ""])).toEqual([versions[0]?.key]);
  });

  test("deletes nothing without a policy, with dont-delete, or for workspaces that the workspaces service does not have", async () => {
    proves("Data retention/don't-delete, no policy, no answer");
    const without = await written(state, 2);
    const unknown = await written(state, 2);
    const dropped = await written(state, 2);
    for (const { ids } of [without, unknown, dropped]) await age(state, ids, 400);
    state.fakes.retain(without.workspaceId, {});
    for (const { workspaceId } of [unknown, dropped]) {
      state.fakes.retain(workspaceId, { days: 1 });
    }
    state.fakes.forget(unknown.workspaceId);
    await state.workspaceState.dropWorkspace({ workspaceId: dropped.workspaceId });
    const all = [without, unknown, dropped].map(({ workspaceId }) => workspaceId);
    expect(await collect(state, all)).toEqual({ ids: [], collected: [], kept: [] });
  });

  test("is requested once per page of workspaces, although the page's versions are deleted in several batches", async () => {
    proves("Data retention/in batches, resumable, by any number of replicas");
    const one = await written(state, 3);
    const copies = 450;
    await state.database.query(
      `insert into blobs select 'many-' || n, $1, 1, 's', 1, now() from generate_series(1, $2::int) n`,
      [one.workspaceId, copies],
    );
    await state.database.query(
      `insert into state_versions
       select (jsonb_populate_record(v, jsonb_build_object('id', 'sv-many' || n, 'position', n,
         'lock_epoch', 1000 + n, 'blob_key', 'many-' || n, 'created_at', now() - interval '99 days'))).*
       from state_versions v, generate_series(1, $2::int) n where v.id = $1`,
      [one.ids[0], copies],
    );
    const other = await written(state, 2);
    await age(state, other.ids, 31);
    for (const { workspaceId } of [one, other]) state.fakes.retain(workspaceId, { days: 30 });
    const before = state.fakes.calls.retentions;
    const batches: number[] = [];
    await collectWorkspaces(state.app, [one.workspaceId, other.workspaceId], {
      onBatch: (batch) => void batches.push(batch.length),
    });
    expect(batches.reduce((sum, batch) => sum + batch, 0)).toBe(copies + 1);
    expect(batches.length).toBeGreaterThan(2);
    expect(state.fakes.calls.retentions).toBe(before + 1);
    expect(await statuses(state, other.workspaceId)).toEqual([gone, "finalized"]);
  });
});

test("lists due versions in a dry run and deletes nothing", async () => {
  proves("Data retention/a dry run deletes nothing");
  const { workspaceId, ids, versions } = await written(state, 3);
  await age(state, ids, 31);
  state.fakes.retain(workspaceId, { days: 30 });
  const dry = await collect(state, [workspaceId], { dryRun: true });
  expect(dry.collected).toEqual(
    ids.slice(0, 2).map((id) => ({
      id,
      workspaceId,
      rule: "policy",
      createdAt: expect.any(Date),
      bytes: "state 1".length,
    })),
  );
  expect(await statuses(state, workspaceId)).toEqual(["finalized", "finalized", "finalized"]);
  expect(
    await deletions(
      state,
      versions.map(({ key }) => key),
    ),
  ).toEqual([]);
  expect((await collect(state, [workspaceId])).ids).toEqual(dry.ids);
});

describe("in the hosted edition", () => {
  test("keeps the last 100 states of a free organization, each current state, and all states for six months", async () => {
    proves("State limits/free tier");
    await using own = await runState({ edition: "hosted" });
    const old = await written(own, 3);
    const single = await written(own, 1);
    const busy = await written(own, 2);
    await own.database.query(
      `insert into blobs select 'hosted-' || n, $1, 1, 's', 1, now() from generate_series(1, 96) n`,
      [busy.workspaceId],
    );
    await own.database.query(
      `insert into state_versions
       select (jsonb_populate_record(v, jsonb_build_object('id', 'sv-hosted' || n, 'position', n,
         'lock_epoch', 1000 + n, 'blob_key', 'hosted-' || n, 'created_at', now() - n * interval '1 hour'))).*
       from state_versions v, generate_series(1, 96) n where v.id = $1`,
      [busy.ids[0]],
    );
    await age(own, [...old.ids, ...single.ids], 200);
    const all = [old, single, busy].map(({ workspaceId }) => workspaceId);
    for (const id of all) own.fakes.retain(id, { plan: "free", days: 1 });
    // The organization has 98 recent versions and 4 old ones. Its hundredth newest version is the second newest of the
    // old versions.
    const collected = await collect(own, all);
    expect(collected.ids).toEqual(old.ids.slice(0, 2));
    expect(collected.collected[0]?.rule).toBe("free-tier");
    // This edition has no status for permanently deleted data, so the rows are deleted.
    expect(await statuses(own, old.workspaceId)).toEqual(["finalized"]);
    expect(await statuses(own, single.workspaceId)).toEqual(["finalized"]);
    expect(
      await deletions(
        own,
        old.versions.map(({ key }) => key),
      ),
    ).toHaveLength(2);
    for (const id of all) own.fakes.retain(id, { plan: "standard" });
    expect((await collect(own, all)).ids).toEqual([]);
  });
});
