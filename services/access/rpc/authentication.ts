import type { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { authenticate, authenticateTokenId, batchAuthenticate } from "../app/authentication.ts";
import { authenticateRun } from "../app/run-token.ts";
import { looksLikeRunSecret } from "../domain/token-secret.ts";
import type { Context } from "./context.ts";
import { tokenId } from "./ids.ts";

export const authenticationService = (
  app: App,
): ServiceImpl<typeof AuthenticationService, Context> => ({
  authenticate: async ({ token }) => {
    if (looksLikeRunSecret(token)) {
      const { tokenId, runId, versions } = await authenticateRun(app, token);
      return { principal: { type: "run", id: runId, versions, tokenId } };
    }
    const { tokenId, type, id, versions } = await authenticate(app, token);
    return { principal: { type, id, versions, tokenId } };
  },
  authenticateTokenId: async (request) => {
    const principal = await authenticateTokenId(app, tokenId(request.tokenId));
    return { principal };
  },
  batchAuthenticate: async ({ tokens }) => {
    const all = await batchAuthenticate(app, tokens);
    return {
      found: all.flatMap((principal, position) => (principal ? [{ position, principal }] : [])),
    };
  },
});
