import { type Caller, type Principal, principalTypes } from "@statehouse/authorization";
import { unauthenticated } from "@statehouse/errors";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { type CallOptions, type Channel, createClient } from "@statehouse/rpc";

/** Whom a bearer token speaks for, as access says; for downloads, which do not pass the gateway. */
export function authenticationOver(
  access: Channel,
  identity: CallOptions,
  callerOf: (principal: Principal) => Promise<Caller>,
): (token: string) => Promise<Caller> {
  const client = createClient(AuthenticationService, access, identity);
  return async (token) => {
    const { principal } = await client.authenticate({ token });
    const type = principalTypes.find((known) => known === principal?.type);
    if (!principal || !type || type === "service") throw unauthenticated();
    return callerOf({ type, id: principal.id, versions: principal.versions });
  };
}
