import { BackingDataService } from "@statehouse/proto/statehouse/state/v1/backing_data";
import { createClient } from "@statehouse/rpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collectDroppedWorkspaces } from "../app/collection.ts";
import { collectEverything, collectNextPage } from "../app/collection-pass.ts";
import { type Collected, collectWorkspaces } from "../app/retention-collection.ts";
import type { WorkspaceId } from "../domain/ids.ts";
import { type RunningState, runState } from "./running-state.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

/** A workspace with so many versions, each its own lock's; answers with their ids and blobs, oldest first. */
async function written(count: number, running = state) {
  const workspaceId = running.lockedWorkspace();
  const versions: { id: string; key: string }[] = [];
  for (let serial = 1; serial <= count; serial++) {
    const bytes = `state ${serial}`;
    const created = await running.create(workspaceId, bytes, {
      serial: BigInt(serial),
      inline: true,
    });
    const attempt = running.attemptOf(bytes);
    await running.put(created.internalUploadPath, bytes, attempt);
    versions.push({ id: created.stateVersion?.id ?? "", key: attempt.blobKey });
  }
  return { workspaceId: workspaceId as WorkspaceId, versions, ids: versions.map(({ id }) => id) };
}

/** As if it had been created so many days ago. */
const age = (ids: readonly string[], days: number, running = state) =>
  running.database.query(
    "update state_version set created_at = created_at - $2 * interval '1 day' where id = any($1)",
    [ids, days],
  );

async function collect(
  workspaceIds: readonly WorkspaceId[],
  { dryRun = false, running = state } = {},
) {
  const collected: Collected[] = [];
  const kept: string[] = [];
  await collectWorkspaces(running.app, workspaceIds, {
    dryRun,
    onBatch(batch, reasons) {
      collected.push(...batch);
      kept.push(...reasons);
    },
  });
  return { ids: collected.map(({ id }) => id), collected, kept };
}

const statuses = async (workspaceId: string, running = state) =>
  (
    await running.database.query<{ status: string }>(
      "select status from state_version where workspace_id = $1 order by position",
      [workspaceId],
    )
  ).map(({ status }) => status.replace("backing_data_", ""));

const deletions = async (keys: readonly string[], running = state) =>
  (
    await running.database.query<{ key: string }>(
      "select key from blob_deletions where key = any($1) order by key",
      [keys],
    )
  ).map(({ key }) => key);

const gone = "permanently_deleted";

describe("what a policy lets go", () => {
  test("is deleted for good, with its bytes; younger versions and the current one stay", async () => {
    const { workspaceId, versions, ids } = await written(4);
    await age(ids.slice(0, 2), 31);
    state.neighbours.retain(workspaceId, { days: 30 });
    expect((await collect([workspaceId])).ids).toEqual(ids.slice(0, 2));
    expect(await statuses(workspaceId)).toEqual([gone, gone, "finalized", "finalized"]);
    const [first, second, third] = versions.map(({ key }) => key);
    expect(await deletions([first ?? "", second ?? "", third ?? ""])).toEqual(
      [first, second].sort(),
    );
    const shown = await state.versions.getStateVersion({ id: ids[0] ?? "" });
    expect(shown.stateVersion).toMatchObject({ status: "backing_data_permanently_deleted" });
    expect((await state.events(workspaceId)).slice(-1)).toEqual(["state-versions.collected"]);
    expect((await collect([workspaceId])).ids).toEqual([]);
  });

  test("is never the current version, however old, nor anything that is newer", async () => {
    const { workspaceId, ids } = await written(2);
    const pending = await state.create(workspaceId, "late", { serial: 9n });
    await age([...ids, pending.stateVersion?.id ?? ""], 400);
    state.neighbours.retain(workspaceId, { days: 1 });
    expect((await collect([workspaceId])).ids).toEqual([ids[0]]);
    expect(await statuses(workspaceId)).toEqual([gone, "finalized", "pending"]);
    const current = await state.versions.getCurrentStateVersion({ workspaceId });
    expect(current.stateVersion?.id).toBe(ids[1]);
  });

  test("may be soft-deleted before, and need not be unlocked", async () => {
    const { workspaceId, ids } = await written(2);
    await state.database.query(
      `update state_version set status = 'backing_data_soft_deleted', soft_deleted_at = now()
       where id = $1`,
      [ids[0]],
    );
    await age(ids, 31);
    state.neighbours.retain(workspaceId, { days: 30 });
    expect((await collect([workspaceId])).ids).toEqual([ids[0]]);
    const rows = await state.database.query(
      "select from state_version where soft_deleted_at > $1",
      [new Date(0)],
    );
    expect(rows).toEqual([]);
  });

  test("is nothing that a rollback shares a blob with, until that one is gone", async () => {
    const { workspaceId, versions, ids } = await written(2);
    const copied = await state.versions.rollbackStateVersion({
      workspaceId,
      rollbackStateVersionId: ids[0] ?? "",
    });
    const copy = copied.stateVersion?.id ?? "";
    await age([...ids, copy], 31);
    state.neighbours.retain(workspaceId, { days: 30 });
    // The copy is current: its source is kept with it.
    const first = await collect([workspaceId]);
    expect([first.ids, first.kept]).toEqual([[ids[1]], ["shared"]]);
    await state.write(workspaceId, "newest", { serial: 9n });
    expect((await collect([workspaceId])).ids).toEqual([copy]);
    expect(await deletions([versions[0]?.key ?? ""])).toEqual([]);
    expect((await collect([workspaceId])).ids).toEqual([ids[0]]);
    expect(await deletions([versions[0]?.key ?? ""])).toEqual([versions[0]?.key]);
  });

  test("is nothing where nothing counts: without a policy, kept for ever, or unknown to workspaces", async () => {
    const without = await written(2);
    const unknown = await written(2);
    const dropped = await written(2);
    for (const { ids } of [without, unknown, dropped]) await age(ids, 400);
    state.neighbours.retain(without.workspaceId, {});
    for (const { workspaceId } of [unknown, dropped]) {
      state.neighbours.retain(workspaceId, { days: 1 });
    }
    state.neighbours.forget(unknown.workspaceId);
    await state.workspaceState.dropWorkspace({ workspaceId: dropped.workspaceId });
    const all = [without, unknown, dropped].map(({ workspaceId }) => workspaceId);
    expect(await collect(all)).toEqual({ ids: [], collected: [], kept: [] });
  });

  test("is asked for once for all workspaces of a page, and deleted in more than one batch", async () => {
    const one = await written(3);
    const copies = 450;
    await state.database.query(
      `insert into blob select 'many-' || n, $1, 1, 's', 1, now() from generate_series(1, $2::int) n`,
      [one.workspaceId, copies],
    );
    await state.database.query(
      `insert into state_version
       select (jsonb_populate_record(v, jsonb_build_object('id', 'sv-many' || n, 'position', n,
         'lock_epoch', 1000 + n, 'blob_key', 'many-' || n, 'created_at', now() - interval '99 days'))).*
       from state_version v, generate_series(1, $2::int) n where v.id = $1`,
      [one.ids[0], copies],
    );
    const other = await written(2);
    await age(other.ids, 31);
    for (const { workspaceId } of [one, other]) state.neighbours.retain(workspaceId, { days: 30 });
    const before = state.neighbours.asked.retentions;
    const batches: number[] = [];
    await collectWorkspaces(state.app, [one.workspaceId, other.workspaceId], {
      onBatch: (batch) => void batches.push(batch.length),
    });
    expect(batches.reduce((sum, batch) => sum + batch, 0)).toBe(copies + 1);
    expect(batches.length).toBeGreaterThan(2);
    expect(state.neighbours.asked.retentions).toBe(before + 1);
    expect(await statuses(other.workspaceId)).toEqual([gone, "finalized"]);
  });
});

test("a dry run names what would go, and deletes nothing", async () => {
  const { workspaceId, ids, versions } = await written(3);
  await age(ids, 31);
  state.neighbours.retain(workspaceId, { days: 30 });
  const dry = await collect([workspaceId], { dryRun: true });
  expect(dry.collected).toEqual(
    ids.slice(0, 2).map((id) => ({
      id,
      workspaceId,
      rule: "policy",
      createdAt: expect.any(Date),
      bytes: "state 1".length,
    })),
  );
  expect(await statuses(workspaceId)).toEqual(["finalized", "finalized", "finalized"]);
  expect(await deletions(versions.map(({ key }) => key))).toEqual([]);
  expect((await collect([workspaceId])).ids).toEqual(dry.ids);
});

describe("while it runs", () => {
  test("a policy that is forbidden before it is acted on holds, though the answer was on its way", async () => {
    const { workspaceId, ids } = await written(2);
    await age(ids, 31);
    state.neighbours.retain(workspaceId, { days: 30 });
    state.neighbours.meanwhile(async () => {
      const version = state.neighbours.retain(workspaceId, {});
      await state.retention.raiseRetentionVersion({ version });
    });
    expect(await collect([workspaceId])).toMatchObject({ ids: [], kept: ["notDue"] });
    expect(await statuses(workspaceId)).toEqual(["finalized", "finalized"]);
  });

  test.each([
    [
      "copied by a rollback",
      "shared",
      (workspaceId: string, id: string) =>
        state.versions.rollbackStateVersion({ workspaceId, rollbackStateVersionId: id }),
    ],
    [
      "deleted for good by hand",
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
  ])("a version that is %s after it was found due is left alone", async (_, reason, meanwhile) => {
    const { workspaceId, ids } = await written(2);
    await age(ids, 31);
    state.neighbours.retain(workspaceId, { days: 30 });
    const { retention } = state.app;
    const app = {
      ...state.app,
      retention: {
        ...retention,
        dueVersions: async (...look: Parameters<typeof retention.dueVersions>) => {
          const found = await retention.dueVersions(...look);
          await meanwhile(workspaceId, ids[0] ?? "");
          return found;
        },
      },
    };
    expect(await collect([workspaceId], { running: { ...state, app } })).toMatchObject({
      ids: [],
      kept: [reason],
    });
    expect(await state.events(workspaceId)).not.toContain("state-versions.collected");
  });

  test("an answer that is an hour old is asked for again", async () => {
    const { workspaceId, ids } = await written(2);
    await age(ids, 31);
    state.neighbours.retain(workspaceId, { days: 30 });
    state.neighbours.meanwhile(async () => {
      // Changed, and whoever changed it died before state heard of it.
      state.neighbours.retain(workspaceId, { days: 99 });
      state.pass(60 * 60_000);
    });
    expect(await collect([workspaceId])).toMatchObject({ ids: [] });
    expect(await statuses(workspaceId)).toEqual(["finalized", "finalized"]);
  });

  test("answers by less than was told before delete nothing and are said loudly", async () => {
    await using own = await runState();
    const { workspaceId, ids } = await written(2, own);
    await age(ids, 31, own);
    const version = own.neighbours.retain(workspaceId, { days: 30 });
    await own.retention.raiseRetentionVersion({ version: version + 1000n });
    await own.retention.raiseRetentionVersion({ version });
    await expect(collect([workspaceId], { running: own })).rejects.toThrow("less than it told");
    expect(await statuses(workspaceId, own)).toEqual(["finalized", "finalized"]);
  });

  test("a change waits for the batch that goes by the old one, and for no other", async () => {
    const { workspaceId, ids } = await written(2);
    const raised = Promise.withResolvers<void>();
    let acknowledged = false;
    await state.app.transaction(async (tx) => {
      await tx.retentionVersion();
      void state.retention.raiseRetentionVersion({ version: 2n }).then(() => {
        acknowledged = true;
        raised.resolve();
      });
      await state.versions.getStateVersion({ id: ids[0] ?? "" });
      expect(acknowledged).toBe(false);
    });
    await raised.promise;
    expect(await statuses(workspaceId)).toEqual(["finalized", "finalized"]);
  });

  test("a workspace that somebody holds is left for the next pass", async () => {
    const [busy, free] = [await written(2), await written(2)];
    for (const { ids, workspaceId } of [busy, free]) {
      await age(ids, 31);
      state.neighbours.retain(workspaceId, { days: 30 });
    }
    const both = [busy.workspaceId, free.workspaceId];
    await state.app.transaction(async (tx) => {
      await tx.knownWorkspaceForUpdate(busy.workspaceId);
      expect(await collect(both)).toMatchObject({ ids: [free.ids[0]], kept: ["busy"] });
    });
    expect((await collect(both)).ids).toEqual([busy.ids[0]]);
  });

  test("several at once delete each version once", async () => {
    const workspaces = await Promise.all([written(4), written(4), written(4)]);
    for (const { ids, workspaceId } of workspaces) {
      await age(ids, 31);
      state.neighbours.retain(workspaceId, { days: 30 });
    }
    const all = workspaces.map(({ workspaceId }) => workspaceId);
    const rounds = await Promise.all([collect(all), collect(all), collect(all)]);
    const last = await collect(all);
    const ids = [...rounds, last].flatMap((round) => round.ids);
    expect(ids).toHaveLength(9);
    expect(new Set(ids).size).toBe(9);
    const [row] = await state.database.query<{ count: number }>(
      `select count(*) as count from blob where workspace_id = any($1) and "references" <> 1`,
      [all],
    );
    expect(row?.count).toBe(0);
  });
});

test("a pass goes page by page, one holder at a time, and takes over what died", async () => {
  await using own = await runState();
  const { workspaceId, ids } = await written(2, own);
  await age(ids, 31, own);
  own.neighbours.retain(workspaceId, { days: 30 });
  const died = await own.app.passes.claim("retention", {
    holder: "died",
    now: own.app.now(),
    until: new Date(own.app.now().getTime() + 60_000),
  });
  expect(died).toMatchObject({ after: "" });
  const nothing = () => {};
  expect(await collectNextPage(own.app, nothing)).toBe(false);
  own.pass(61_000);
  expect(await collectNextPage(own.app, nothing)).toBe(true);
  expect(await statuses(workspaceId, own)).toEqual([gone, "finalized"]);
  expect(await own.app.passes.progress("retention")).toMatchObject({ seen: 1, found: 1, bytes: 7 });
  expect(
    await own.app.passes.renew(died ?? { name: "retention", holder: "", after: "" }, new Date()),
  ).toBe(false);
  expect(await collectNextPage(own.app, nothing)).toBe(false);
  own.pass(3600_000);
  expect(await collectNextPage(own.app, nothing)).toBe(true);
});

test("while workspaces does not answer nothing is deleted, and the page is taken again", async () => {
  await using own = await runState();
  const { workspaceId, ids } = await written(2, own);
  await age(ids, 31, own);
  own.neighbours.retain(workspaceId, { days: 30 });
  own.neighbours.meanwhile(() => Promise.reject(new Error("away")));
  await expect(collectNextPage(own.app, () => {})).rejects.toThrow();
  expect(await statuses(workspaceId, own)).toEqual(["finalized", "finalized"]);
  own.pass(31_000);
  expect(await collectNextPage(own.app, () => {})).toBe(true);
  expect(await statuses(workspaceId, own)).toEqual([gone, "finalized"]);
});

describe("in the hosted edition", () => {
  test("a free organization keeps its last 100 states, each workspace's newest, and all for six months", async () => {
    await using own = await runState({ edition: "hosted" });
    const old = await written(3, own);
    const single = await written(1, own);
    const busy = await written(2, own);
    await own.database.query(
      `insert into blob select 'hosted-' || n, $1, 1, 's', 1, now() from generate_series(1, 97) n`,
      [busy.workspaceId],
    );
    await own.database.query(
      `insert into state_version
       select (jsonb_populate_record(v, jsonb_build_object('id', 'sv-hosted' || n, 'position', n,
         'lock_epoch', 1000 + n, 'blob_key', 'hosted-' || n, 'created_at', now() - n * interval '1 hour'))).*
       from state_version v, generate_series(1, 97) n where v.id = $1`,
      [busy.ids[0]],
    );
    await age([...old.ids, ...single.ids], 200, own);
    const all = [old, single, busy].map(({ workspaceId }) => workspaceId);
    for (const id of all) own.neighbours.retain(id, { plan: "free", days: 1 });
    // 97 and 2 that are young, 4 that are old: the youngest of these is the hundredth.
    const collected = await collect(all, { running: own });
    expect(collected.ids).toEqual(old.ids.slice(0, 2));
    expect(collected.collected[0]?.rule).toBe("free-tier");
    // The edition has no status for it: the rows are gone.
    expect(await statuses(old.workspaceId, own)).toEqual(["finalized"]);
    expect(await statuses(single.workspaceId, own)).toEqual(["finalized"]);
    expect(
      await deletions(
        old.versions.map(({ key }) => key),
        own,
      ),
    ).toHaveLength(2);
    for (const id of all) own.neighbours.retain(id, { plan: "standard" });
    expect((await collect(all, { running: own })).ids).toEqual([]);
  });
});

test("all of it is gone through by the command's pass, whoever holds the replicas'", async () => {
  const { workspaceId, ids } = await written(2);
  await age(ids, 31);
  state.neighbours.retain(workspaceId, { days: 30 });
  const seen: string[] = [];
  await collectEverything(state.app, {
    dryRun: true,
    onBatch: (batch) => void seen.push(...batch.map(({ id }) => id)),
  });
  expect(seen).toContain(ids[0]);
});

test("totals of lists are what counting would give, whatever has happened", async () => {
  const { workspaceId, ids } = await written(3);
  await state.create(workspaceId, "pending", { serial: 8n });
  await state.create(workspaceId, "supersedes", { serial: 9n });
  await age(ids, 31);
  state.neighbours.retain(workspaceId, { days: 30 });
  await collect([workspaceId]);
  const counted = await state.database.query<{ status: string; count: number }>(
    "select status, count from state_version_count where workspace_id = $1 and count <> 0 order by 1",
    [workspaceId],
  );
  expect(counted.map(({ status, count }) => [status, count])).toEqual([
    ["backing_data_permanently_deleted", 2],
    ["discarded", 1],
    ["finalized", 1],
    ["pending", 1],
  ]);
  const listed = await state.versions.listStateVersions({
    workspaceId,
    pageSize: 2,
  });
  expect(listed.totalCount).toBe(5);
  const wrong = await state.database.query(
    `select from state_version_count known full join (
       select workspace_id, status, count(*) as count from state_version group by 1, 2) found
       using (workspace_id, status) where coalesce(known.count, 0) <> coalesce(found.count, 0)`,
  );
  expect(wrong).toEqual([]);
  await state.workspaceState.dropWorkspace({ workspaceId });
  while (await collectDroppedWorkspaces(state.app));
  const left = await state.database.query(
    "select from state_version_count where workspace_id = $1",
    [workspaceId],
  );
  expect(left).toEqual([]);
});
