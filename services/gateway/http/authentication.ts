import type { Principal } from "@statehouse/authorization";
import { unauthenticated } from "@statehouse/errors";
import type { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import type { CallOptions, Client, ServiceIdentity } from "@statehouse/rpc";

/** Whom a request is made for; shown to the services with every call. */
export interface Caller extends CallOptions {
  readonly principal: Principal;
}

/** The kinds of credentials that a bearer token can be. */
export const credentialTypes = ["user", "team", "organization", "run"] as const;
export type CredentialType = (typeof credentialTypes)[number];

/** All but those of runs, which are lent for a while and about one workspace. */
export const standing = ["user", "team", "organization"] as const;

const BEARER = /^bearer +(\S+) *$/i;

const isCredential = (type: string): type is CredentialType =>
  credentialTypes.some((known) => known === type);

/**
 * Turns an Authorization header into a caller: asks access on every request, so that a revoked token
 * fails on the next one; only what is signed for the services is kept, by the identity, under the
 * principal's versions. Throws `unauthenticated`.
 */
export const createAuthentication =
  (client: Client<typeof AuthenticationService>, identity: ServiceIdentity) =>
  async (authorization: string | undefined): Promise<Caller> => {
    const token = BEARER.exec(authorization ?? "")?.[1];
    if (!token) throw unauthenticated();
    const { principal } = await client.authenticate({ token });
    if (!principal || !isCredential(principal.type)) throw unauthenticated();
    const known: Principal = {
      type: principal.type,
      id: principal.id,
      versions: principal.versions,
    };
    return { principal: known, assertion: identity.on(known).assertion };
  };

export type Authenticate = ReturnType<typeof createAuthentication>;
