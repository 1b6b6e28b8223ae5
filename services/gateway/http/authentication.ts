import type { Principal } from "@statehouse/authorization";
import { AppError, unauthenticated } from "@statehouse/errors";
import type {
  AuthenticationService,
  Principal as PrincipalMessage,
} from "@statehouse/proto/statehouse/access/v1/authentication";
import type { CallOptions, Client, ServiceIdentity } from "@statehouse/rpc";
import { authenticationFailures, bearerToken } from "@statehouse/runtime";
import { batchPerTick } from "./batch-per-tick.ts";

/** The principal of a request. The gateway asserts it in every call to a service. */
export interface Caller extends CallOptions {
  readonly principal: Principal;
}

/** The kinds of credentials that can be sent as a bearer token. */
export const credentialTypes = ["user", "team", "organization", "run"] as const;
export type CredentialType = (typeof credentialTypes)[number];

/** All kinds of bearer tokens except run tokens, which are temporary and limited to one workspace. */
export const longLivedCredentials = ["user", "team", "organization"] as const;

const isCredential = (type: string): type is CredentialType =>
  credentialTypes.some((known) => known === type);

/** A token, and the address of the client that sent it. */
interface Presented {
  token: string;
  address: string;
}

/**
 * Creates the function that turns an Authorization header into a caller. The function calls the access service for
 * every request, so that a revoked token fails on its next use. Only signed assertions are cached, under the
 * principal's versions. The function throws `unauthenticated`.
 */
export function createAuthentication(
  client: Client<typeof AuthenticationService>,
  identity: ServiceIdentity,
) {
  const failed = authenticationFailures("token");
  const service = { assertion: identity.assertion };
  const alone = async ({ token, address }: Presented) =>
    (await client.authenticate({ token }, { ...service, clientAddress: address })).principal;
  // The key contains the address, because two clients can send the same token and the audit trail records each client's
  // address.
  const keyOf = ({ token, address }: Presented) => `${address} ${token}`;
  const presentedOf = (key: string): Presented => {
    const end = key.indexOf(" ");
    return { address: key.slice(0, end), token: key.slice(end + 1) };
  };
  const inBatch = batchPerTick<string, PrincipalMessage>(async (keys) => {
    const [first, ...more] = keys.map(presentedOf);
    if (!first) return [];
    if (more.length === 0) return [await alone(first)];
    const all = [first, ...more];
    const { found } = await client.batchAuthenticate({
      tokens: all.map(({ token }) => token),
      clientAddresses: all.map(({ address }) => address),
    });
    const byPosition = new Map(found.map(({ position, principal }) => [position, principal]));
    return all.map((_, position) => byPosition.get(position));
  });
  return async (authorization: string | undefined, address: string): Promise<Caller> => {
    const token = bearerToken(authorization);
    if (!token) {
      failed("missing");
      throw unauthenticated();
    }
    const principal = await inBatch(keyOf({ token, address })).catch((error: unknown) => {
      if (error instanceof AppError && error.kind === "unauthenticated") failed("refused");
      throw error;
    });
    if (!principal || !isCredential(principal.type)) {
      failed("refused");
      throw unauthenticated();
    }
    const known: Principal = {
      type: principal.type,
      id: principal.id,
      versions: principal.versions,
      tokenId: principal.tokenId,
    };
    return {
      principal: known,
      assertion: identity.on(known).assertion,
      clientAddress: address,
    };
  };
}

export type Authenticate = ReturnType<typeof createAuthentication>;
