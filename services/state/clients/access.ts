import { type Principal, principalTypes } from "@statehouse/authorization";
import { isNotFound, unauthenticated } from "@statehouse/errors";
import {
  AuthenticationService,
  type Principal as PrincipalMessage,
} from "@statehouse/proto/statehouse/access/v1/authentication";
import { PrincipalNameService } from "@statehouse/proto/statehouse/access/v1/principal_name";
import { type CallOptions, type Channel, createClient } from "@statehouse/rpc";
import type { AccessClient } from "../clients-app.ts";

/**
 * Creates the client for the access service. Uploads and downloads use it, because they do not pass through the
 * gateway, which authenticates all other requests.
 */
export function createAccessClient(channel: Channel, identity: CallOptions): AccessClient {
  const authentication = createClient(AuthenticationService, channel, identity);
  const names = createClient(PrincipalNameService, channel, identity);
  return {
    authenticate: async (token) =>
      principalOf((await authentication.authenticate({ token })).principal),
    authenticateTokenId: async (tokenId) =>
      principalOf((await authentication.authenticateTokenId({ tokenId })).principal),
    async userExists(id) {
      try {
        await names.getPrincipalName({ type: "user", id });
        return true;
      } catch (error) {
        if (isNotFound(error)) return false;
        throw error;
      }
    },
  };
}

function principalOf(principal: PrincipalMessage | undefined): Principal {
  const type = principalTypes.find((known) => known === principal?.type);
  if (!principal || !type || type === "service") throw unauthenticated();
  const { id, versions, tokenId } = principal;
  return { type, id, versions, tokenId };
}
