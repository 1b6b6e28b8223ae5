import type { RunLockService } from "@statehouse/proto/statehouse/runs/v1/run_lock";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { runnerOf } from "../caller-app.ts";
import { runId, workspaceId } from "../ids-rpc.ts";
import { lockAsRun, unlockAsRun } from "./app.ts";

export const runLockService = (app: App): ServiceImpl<typeof RunLockService> => ({
  lockAsRun: async ({ workspaceId: id, runId: run, reason }, { caller }) => {
    const runner = runnerOf(caller);
    return lockAsRun(app, { workspaceId: workspaceId(id), runId: runId(run), runner, reason });
  },
  unlockAsRun: async ({ workspaceId: id, runId: run }, { caller }) => {
    const runner = runnerOf(caller);
    await unlockAsRun(app, { workspaceId: workspaceId(id), runId: runId(run), runner });
    return {};
  },
});
