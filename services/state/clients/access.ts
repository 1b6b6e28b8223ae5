import { principalTypes } from "@statehouse/authorization";
import { unauthenticated } from "@statehouse/errors";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { type CallOptions, type Channel, createClient } from "@statehouse/rpc";
import type { AccessClient } from "../app/clients.ts";

/**
 * Creates the client for the access service. Only downloads use it: they do not pass through the gateway, which
 * authenticates all other requests.
 */
export function createAccessClient(channel: Channel, identity: CallOptions): AccessClient {
  const authentication = createClient(AuthenticationService, channel, identity);
  return {
    async authenticate(token) {
      const { principal } = await authentication.authenticate({ token });
      const type = principalTypes.find((known) => known === principal?.type);
      if (!principal || !type || type === "service") throw unauthenticated();
      return { type, id: principal.id, versions: principal.versions };
    },
  };
}
