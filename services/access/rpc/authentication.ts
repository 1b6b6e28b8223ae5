import type { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  type AuthenticatedPrincipal,
  authenticateTokenId,
  batchSignIn,
  recordRefusal,
  signIn,
} from "../app/authentication.ts";
import { tokenId } from "./ids.ts";

export const authenticationService = (app: App): ServiceImpl<typeof AuthenticationService> => ({
  authenticate: async ({ token, withExpiry }, { caller }) => ({
    principal: principalToProto(app, await signIn(app, caller, { token, withExpiry })),
  }),
  authenticateTokenId: async (request) => {
    const found = await authenticateTokenId(app, tokenId(request.tokenId), request.withExpiry);
    return { principal: principalToProto(app, found) };
  },
  batchAuthenticate: async ({ tokens, clientAddresses, withExpiry }) => {
    const presented = tokens.map((token, index) => ({ token, address: clientAddresses[index] }));
    const all = await batchSignIn(app, presented, withExpiry);
    return {
      found: all.flatMap((found, position) =>
        found ? [{ position, principal: principalToProto(app, found) }] : [],
      ),
    };
  },
  recordRefusal: async ({ route, code }) => {
    await recordRefusal(app, { route, code });
    return {};
  },
});

const principalToProto = (app: App, { cacheableUntil, ...principal }: AuthenticatedPrincipal) => ({
  ...principal,
  // A duration and not a time, because the clock of the process that keeps the principal can differ from the clock of
  // this service.
  cacheableForMs: cacheableUntil
    ? BigInt(Math.max(0, cacheableUntil.getTime() - app.now().getTime()))
    : 0n,
});
