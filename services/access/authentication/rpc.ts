import type { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { tokenId } from "../ids-rpc.ts";
import { authenticateTokenId, batchSignIn, recordRefusal, signIn } from "./app.ts";

export const authenticationService = (app: App): ServiceImpl<typeof AuthenticationService> => ({
  authenticate: async ({ token }, { caller }) => ({
    principal: await signIn(app, caller, token),
  }),
  authenticateTokenId: async (request) => ({
    principal: await authenticateTokenId(app, tokenId(request.tokenId)),
  }),
  batchAuthenticate: async ({ tokens, clientAddresses }) => {
    const presented = tokens.map((token, index) => ({ token, address: clientAddresses[index] }));
    const all = await batchSignIn(app, presented);
    return {
      found: all.flatMap((principal, position) => (principal ? [{ position, principal }] : [])),
    };
  },
  recordRefusal: async ({ route, code }) => recordRefusal(app, { route, code }),
});
