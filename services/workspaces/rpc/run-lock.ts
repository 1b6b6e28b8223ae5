import type { RunLockService } from "@statehouse/proto/statehouse/runs/v1/run_lock";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { lockAsRun, unlockAsRun } from "../app/run-lock.ts";
import { runId, workspaceId } from "./ids.ts";

export const runLockService = (app: App): ServiceImpl<typeof RunLockService> => ({
  lockAsRun: async ({ workspaceId: id, runId: run, reason }) => {
    await lockAsRun(app, { workspaceId: workspaceId(id), runId: runId(run), reason });
    return {};
  },
  unlockAsRun: async ({ workspaceId: id, runId: run }) => {
    await unlockAsRun(app, { workspaceId: workspaceId(id), runId: runId(run) });
    return {};
  },
});
