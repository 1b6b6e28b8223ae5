import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { RunTokenService } from "@statehouse/proto/statehouse/runs/v1/run_token";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { createRunToken, deleteRunToken, renewRunToken } from "../app/run-token.ts";
import { readRunId, readRunTokenId, readWorkspaceId } from "../domain/ids.ts";
import type { Context } from "./context.ts";

export const runTokenService = (app: App): ServiceImpl<typeof RunTokenService, Context> => ({
  createRunToken: async ({ runId, workspaceId }, { caller }) => {
    const { token, secret } = await createRunToken(app, caller, {
      runId: readRunId(runId),
      workspaceId: readWorkspaceId(workspaceId),
    });
    return { runTokenId: token.id, secret, expiredAt: timestampFromDate(token.expiredAt) };
  },
  renewRunToken: async ({ runTokenId }, { caller }) => {
    const { expiredAt } = await renewRunToken(app, caller, readRunTokenId(runTokenId));
    return { expiredAt: timestampFromDate(expiredAt) };
  },
  deleteRunToken: async ({ runTokenId }, { caller }) => {
    await deleteRunToken(app, caller, readRunTokenId(runTokenId));
    return {};
  },
});
