import { type Principal, principalTypes } from "@statehouse/authorization";
import { unauthenticated } from "@statehouse/errors";
import { type Changing, derivedFrom } from "@statehouse/runtime";
import {
  createLocalJWKSet,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  jwtVerify,
  SignJWT,
} from "jose";
import { LRUCache } from "lru-cache";

/**
 * Lifetime of an assertion in seconds. A service refuses an older assertion even if the assertion contains a later
 * expiry, so that a stolen assertion can be used only for this long.
 */
const LIFETIME_S = 300;
/**
 * A cached assertion is renewed this long before it expires, so that it does not expire in transit or because of clock
 * skew.
 */
const RENEW_MS = 60_000;
/** How far the clocks of two services may differ, in seconds. */
const CLOCK_SKEW_S = 10;
/** The only service that may assert principals other than itself. */
const GATEWAY = "gateway";

/** Provides the signed assertions that name the principal of a call. */
export interface CallOptions {
  /** Returns the signed assertion for the service `audience`. */
  assertion(audience: string): Promise<string>;
  /** The address of the API client whose request causes the call. */
  readonly clientAddress?: string;
}

/** A service's name and signing key. Calls that use this identity assert the service itself. */
export interface ServiceIdentity extends CallOptions {
  readonly name: string;
  /**
   * Returns call options that assert `principal` instead of the service itself. Services accept such assertions from
   * the gateway only.
   */
  on(principal: Principal): CallOptions;
}

/** Public keys by the name of the signing service. A service has several keys while its key is being rotated. */
export type AssertionKeys = Readonly<Record<string, readonly JWK[]>>;

/** Generates a key pair for assertions, for installations that do not have one yet. */
export async function generateAssertionKey(): Promise<{ privateJwk: JWK; publicJwk: JWK }> {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  const kid = crypto.randomUUID();
  return {
    privateJwk: { ...(await exportJWK(privateKey)), alg: "EdDSA", kid },
    publicJwk: { ...(await exportJWK(publicKey)), alg: "EdDSA", kid },
  };
}

/**
 * Creates the identity of the service `name`. Signed assertions are cached until shortly before they expire. If the key
 * can change, `privateKey` is a function that returns the current one.
 */
export async function createIdentity(
  name: string,
  privateKey: Changing<JWK>,
): Promise<ServiceIdentity> {
  const signing = derivedFrom(privateKey, (jwk) => ({
    kid: jwk.kid ?? "",
    key: importJWK(jwk, "EdDSA"),
  }));
  await signing().key;
  const signed = new LRUCache<string, Promise<string>>({
    max: 10_000,
    ttl: LIFETIME_S * 1000 - RENEW_MS,
  });
  const sign = (principal: Principal, audience: string): Promise<string> => {
    const { type, id: subject, versions, tokenId } = principal;
    const { kid, key } = signing();
    const id = `${kid} ${type} ${subject} ${versions} ${tokenId} ${audience}`;
    const kept = signed.get(id);
    if (kept) return kept;
    const unsigned = new SignJWT({ typ: type, ver: versions, tok: tokenId })
      .setProtectedHeader({ alg: "EdDSA", kid })
      .setIssuer(name)
      .setSubject(subject)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(`${LIFETIME_S}s`);
    const assertion = key.then((imported) => unsigned.sign(imported));
    signed.set(id, assertion);
    return assertion;
  };
  const on = (principal: Principal): CallOptions => ({
    assertion: (audience) => sign(principal, audience),
  });
  return { name, on, ...on({ type: "service", id: name, versions: "" }) };
}

/** The principal of a call, and the service that signed the assertion of it. */
export interface Asserted {
  principal: Principal;
  issuer: string;
}

/** Verifies an assertion and returns the caller that it asserts. */
export type AssertionVerifier = (assertion: string) => Promise<Asserted>;

/**
 * Creates a verifier of assertions made for `audience`. It throws `unauthenticated` if the assertion is missing,
 * forged, altered, expired, older than its lifetime, issued in the future or made for another audience, or if a service
 * other than the gateway asserts another principal.
 */
export function createVerifier(audience: string, keys: Changing<AssertionKeys>): AssertionVerifier {
  const current = derivedFrom(keys, keySetsOf);
  let used = current();
  const verified = new LRUCache<string, Asserted>({ max: 10_000, ttl: LIFETIME_S * 1000 });
  return async (assertion) => {
    const keySets = current();
    if (keySets !== used) {
      used = keySets;
      // The cache is cleared, so that assertions signed with a removed key are refused at once.
      verified.clear();
    }
    const kept = verified.get(assertion);
    if (kept) return kept;
    const { expiresAt, ...asserted } = await verify(assertion, audience, keySets);
    const ttl = expiresAt - Date.now();
    if (ttl > 0 && keySets === used) verified.set(assertion, asserted, { ttl });
    return asserted;
  };
}

/** Returns for each service the function that selects one of its keys for an assertion. */
const keySetsOf = (keys: AssertionKeys) =>
  new Map(
    Object.entries(keys).map(([issuer, jwks]) => [issuer, createLocalJWKSet({ keys: [...jwks] })]),
  );

async function verify(
  assertion: string,
  audience: string,
  keySets: ReturnType<typeof keySetsOf>,
): Promise<Asserted & { expiresAt: number }> {
  try {
    const issuer = decodeJwt(assertion).iss ?? "";
    const keySet = keySets.get(issuer);
    if (!keySet) throw new Error(`service ${issuer} has no keys`);
    const { payload } = await jwtVerify(assertion, keySet, {
      algorithms: ["EdDSA"],
      audience,
      issuer,
      requiredClaims: ["sub", "exp", "iat", "typ", "ver"],
    });
    // The library is not used to check the age, because it would then apply its tolerance for clock skew to the expiry
    // as well.
    const ageS = Date.now() / 1000 - (payload.iat ?? 0);
    if (ageS > LIFETIME_S) throw new Error("the assertion is older than its lifetime");
    if (ageS < -CLOCK_SKEW_S) throw new Error("the assertion was issued in the future");
    const type = principalTypes.find((known) => known === payload.typ);
    const id = payload.sub ?? "";
    const assertsItself = type === "service" && id === issuer;
    const assertsOthers = type !== undefined && type !== "service" && issuer === GATEWAY;
    if (!type || !(assertsItself || assertsOthers))
      throw new Error("the issuer is not allowed to assert this principal");
    return {
      principal: {
        type,
        id,
        versions: String(payload.ver),
        ...(typeof payload.tok === "string" ? { tokenId: payload.tok } : {}),
      },
      issuer,
      expiresAt: Math.min(payload.exp ?? 0, (payload.iat ?? 0) + LIFETIME_S) * 1000,
    };
  } catch (cause) {
    const error = unauthenticated("The call has no valid assertion.");
    error.cause = cause;
    throw error;
  }
}
