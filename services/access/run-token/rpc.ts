import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { RunTokenService } from "@statehouse/proto/statehouse/runs/v1/run_token";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { runId, tokenId, workspaceId } from "../ids-rpc.ts";
import { createRunToken, deleteRunToken, renewRunToken } from "./app.ts";

export const runTokenService = (app: App): ServiceImpl<typeof RunTokenService> => ({
  createRunToken: async (request, { caller }) => {
    const { token, secret } = await createRunToken(app, caller, {
      runId: runId(request.runId),
      workspaceId: workspaceId(request.workspaceId),
    });
    return { runTokenId: token.id, secret, expiredAt: timestampFromDate(token.expiredAt) };
  },

  renewRunToken: async (request, { caller }) => {
    const { expiredAt } = await renewRunToken(app, caller, tokenId(request.runTokenId));
    return { expiredAt: timestampFromDate(expiredAt) };
  },

  deleteRunToken: (request, { caller }) => deleteRunToken(app, caller, tokenId(request.runTokenId)),
});
