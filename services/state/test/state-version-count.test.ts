import { afterAll, beforeAll, expect, test } from "vitest";
import { purgeDroppedWorkspaces } from "../workspace-state/app.ts";
import { age, collect, written } from "./retained.ts";
import { type RunningState, runState } from "./running-state.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

test("totals of lists equal the counted rows after any change", async () => {
  const { workspaceId, ids } = await written(state, 3);
  await state.create(workspaceId, "pending", { serial: 8n });
  await state.create(workspaceId, "supersedes", { serial: 9n });
  await age(state, ids, 31);
  state.fakes.retain(workspaceId, { days: 30 });
  await collect(state, [workspaceId]);
  const counted = await state.database.query<{ status: string; count: number }>(
    "select status, count from state_version_counts where workspace_id = $1 and count <> 0 order by 1",
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
    `select from state_version_counts known full join (
       select workspace_id, status, count(*) as count from state_versions group by 1, 2) found
       using (workspace_id, status) where coalesce(known.count, 0) <> coalesce(found.count, 0)`,
  );
  expect(wrong).toEqual([]);
  await state.workspaceState.dropWorkspace({ workspaceId });
  while (await purgeDroppedWorkspaces(state.app));
  const left = await state.database.query(
    "select from state_version_counts where workspace_id = $1",
    [workspaceId],
  );
  expect(left).toEqual([]);
});
