import type { IncomingMessage } from "node:http";
import { AppError, rateLimited } from "@statehouse/errors";
import { LRUCache } from "lru-cache";
import { credentialKey } from "./credential.ts";
import type { Logger } from "./logger.ts";
import { clientNetwork, type Proxies } from "./proxies.ts";
import { createTokenBuckets } from "./token-buckets.ts";

/** Runs authentications and limits those that fail. */
export interface AuthenticationLimit {
  /**
   * Runs `authenticate` for the request. Throws `rateLimited` instead if the credential is not known to be valid and
   * too many credentials from the client's address were not valid.
   */
  run<Caller>(request: IncomingMessage, authenticate: () => Promise<Caller>): Promise<Caller>;
}

/** How long a credential counts as known to be valid after its last successful authentication, in ms. */
const KNOWN_MS = 3_600_000;
const MAX_KNOWN = 100_000;
/** How many times the limit of a client applies to a peer that says that it is a proxy, although none is trusted. */
const PEER_FACTOR = 10;

/**
 * Limits how many authentications with invalid tokens one client address or IPv6 network may make. Credentials that
 * were valid within the last hour are always authenticated, so that one client with an invalid token does not block the
 * other clients at the same address. Behind a proxy that is not trusted, all clients have the address of the proxy. A
 * request that says so, with X-Forwarded-For, is subject to a higher limit, and a warning is logged once.
 */
export function createAuthenticationLimit({
  perMinute,
  proxies,
  logger,
}: {
  /** 0 means no limit. */
  perMinute: number;
  proxies: Proxies;
  logger: Logger;
}): AuthenticationLimit {
  if (perMinute === 0) return { run: (_, authenticate) => authenticate() };
  const known = new LRUCache<string, true>({ max: MAX_KNOWN, ttl: KNOWN_MS });
  const failuresOfClients = createTokenBuckets({ capacity: perMinute, perSecond: perMinute / 60 });
  /**
   * For each credential that is not known to be valid and is being authenticated: a promise that resolves when that
   * authentication ends. Other requests with the same credential wait for it.
   */
  const pending = new Map<string, Promise<unknown>>();
  const failuresOfPeers = createTokenBuckets({
    capacity: PEER_FACTOR * perMinute,
    perSecond: (PEER_FACTOR * perMinute) / 60,
  });
  let isLogged = false;
  const bucketsFor = (request: IncomingMessage) => {
    if (!proxies.hideClient(request)) return failuresOfClients;
    if (!isLogged) {
      isLogged = true;
      logger.warn(
        { peer: request.socket.remoteAddress },
        "a proxy that is not in TRUSTED_PROXIES sends requests: all its clients share one limit of failed authentication",
      );
    }
    return failuresOfPeers;
  };
  return {
    async run(request, authenticate) {
      const credential = credentialKey(request);
      if (credential === undefined) return authenticate();
      const failures = bucketsFor(request);
      const address = clientNetwork(proxies.clientOf(request));
      // A client can begin with many concurrent requests. They wait for the first request, so that a valid credential
      // takes only one token from the bucket of its address, and not one for each request.
      if (!known.has(credential)) await pending.get(credential);
      const isNew = !known.has(credential);
      const attempt = Promise.withResolvers<void>();
      // A credential that is not known to be valid takes one token from the bucket of its address before `authenticate`
      // is called. The token is put back unless the credential is found to be invalid. This way, concurrent requests
      // cannot exceed the limit.
      if (isNew) {
        const { allowed, retryAfterSeconds } = failures.take(address);
        if (!allowed) throw tooManyFailures(retryAfterSeconds);
        pending.set(credential, attempt.promise);
      }
      try {
        const caller = await authenticate();
        known.set(credential, true);
        if (isNew) failures.putBack(address);
        return caller;
      } catch (error) {
        const isFailure = error instanceof AppError && error.kind === "unauthenticated";
        if (isFailure) known.delete(credential);
        else if (isNew) failures.putBack(address);
        throw error;
      } finally {
        attempt.resolve();
        if (pending.get(credential) === attempt.promise) pending.delete(credential);
      }
    },
  };
}

const tooManyFailures = (retryAfterSeconds: number) =>
  rateLimited(
    "Too many requests with invalid tokens came from this address; try again later.",
    retryAfterSeconds,
  );
