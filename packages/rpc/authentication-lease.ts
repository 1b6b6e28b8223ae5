import { hash, randomUUID } from "node:crypto";
import { metrics } from "@opentelemetry/api";
import type { Principal } from "@statehouse/proto/statehouse/access/v1/authentication";
import { AuthenticationLeaseService } from "@statehouse/proto/statehouse/access/v1/authentication_lease";
import { counterFromZero, type Logger, runWithDeadline, startLoop } from "@statehouse/runtime";
import { LRUCache } from "lru-cache";
import type { CallOptions } from "./assertion.ts";
import type { Channel } from "./channel.ts";
import { createClient } from "./client.ts";

/**
 * The principals of tokens that a process keeps in memory. While the process holds its lease, the access service
 * answers a request that changes tokens or grants only after this process has dropped all principals that it kept
 * before the change (ADR 74).
 */
export interface AuthenticationLease {
  /** Whether this process keeps principals. If so, calls that request a principal must set `withExpiry`. */
  readonly enabled: boolean;
  /** Returns the principal of a bearer token: the kept one, or else the one that `call` requests. */
  byToken(token: string, call: PrincipalCall): Promise<Principal | undefined>;
  /** Returns the principal of the token with this id: the kept one, or else the one that `call` requests. */
  byTokenId(tokenId: string, call: PrincipalCall): Promise<Principal | undefined>;
  /** Holds a lease until disposal, which returns the lease. Without this call no principal is kept. */
  hold(logger: Logger): AsyncDisposable;
}

type PrincipalCall = () => Promise<Principal | undefined>;

/** The clocks of a process, in ms. */
export interface Clocks {
  /** A monotonic clock. It can stop while the machine is suspended. */
  monotonic(): number;
  /** The time since 1970. An operator can set this clock. */
  wall(): number;
}

const processClocks: Clocks = { monotonic: () => performance.now(), wall: () => Date.now() };

/** A time on both clocks. It has passed as soon as one of the clocks has reached it. */
type Times = Readonly<Record<keyof Clocks, number>>;

const NEVER: Times = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };

const after = ({ monotonic, wall }: Times, ms: number): Times => ({
  monotonic: monotonic + ms,
  wall: wall + ms,
});

/** A principal, and the time until which it is kept. */
interface Kept {
  principal: Principal;
  until: Times;
}

/**
 * The share of a token's remaining validity for which its principal is kept. It is less than 1, because the rates of
 * two clocks can differ by up to 5 %.
 */
const KEPT_SHARE = 0.95;
/** The largest number of principals that a process keeps. */
const MAX_KEPT = 10_000;
/** How long a renewal may take in addition to the time for which the access service delays its response, in ms. */
const RESPONSE_MS = 2000;
/** The pause between attempts to renew the lease after a failure, in ms. */
const PAUSE_MS = 250;

export interface AuthenticationLeaseOptions {
  access: Channel;
  identity: CallOptions;
  /** The duration of the lease that the process requests, in ms. If 0, no principal is kept. */
  leaseMs: number;
  clocks?: Clocks;
}

export function createAuthenticationLease({
  access,
  identity,
  leaseMs,
  clocks = processClocks,
}: AuthenticationLeaseOptions): AuthenticationLease {
  const client = createClient(AuthenticationLeaseService, access, identity);
  const kept = new LRUCache<string, Kept>({ max: MAX_KEPT });
  const lookups = counterFromZero("statehouse/rpc", "statehouse_authentication_lookups_total", {
    description: "Authentications answered from memory (hit) and by the access service (miss)",
    series: [{ result: "hit" }, { result: "miss" }],
  });
  /**
   * Increases whenever all principals are dropped. A principal that was requested before that must not be kept
   * afterwards.
   */
  let generation = 0;
  let until = NEVER;
  let used = new Set<string>();

  const now = (): Times => ({ monotonic: clocks.monotonic(), wall: clocks.wall() });

  const isBefore = (end: Times): boolean =>
    clocks.monotonic() < end.monotonic && clocks.wall() < end.wall;

  const drop = (): void => {
    generation++;
    kept.clear();
  };

  const end = (): void => {
    until = NEVER;
    drop();
  };

  /** Returns the principal that is kept under `key`. */
  const findKept = (key: string): Principal | undefined => {
    const known = isBefore(until) ? kept.get(key) : undefined;
    const isKnown = known !== undefined && isBefore(known.until);
    lookups.add(1, { result: isKnown ? "hit" : "miss" });
    return isKnown ? known.principal : undefined;
  };

  const request = async (key: string, call: PrincipalCall): Promise<Principal | undefined> => {
    const requestedIn = generation;
    const sent = now();
    const principal = await call();
    const keptMs = Number(principal?.cacheableForMs ?? 0) * KEPT_SHARE;
    const isCurrent = requestedIn === generation && isBefore(until);
    if (principal && isCurrent && keptMs > 0) {
      kept.set(key, { principal, until: after(sent, keptMs) });
    }
    return principal;
  };

  const hold = (logger: Logger): AsyncDisposable => {
    let holder = "";
    let position = "";
    let stopped = false;

    /**
     * Chooses a new id for each request for a new lease. With the same id, an earlier request that reaches the access
     * service late could acknowledge changes for a lease that has been granted since.
     */
    const beginLease = async (): Promise<void> => {
      if (holder !== "") await returnLease();
      holder = randomUUID();
    };

    const returnLease = () =>
      runWithDeadline(Date.now() + RESPONSE_MS, () => client.returnLease({ holder }));

    /** Renews the lease. The request acknowledges the change that the previous response reported, if there was one. */
    const renew = async (): Promise<boolean> => {
      if (stopped) return false;
      if (position === "") await beginLease();
      const sent = now();
      const usedTokenIds = [...used];
      used = new Set();
      try {
        const lease = await runWithDeadline(Date.now() + leaseMs / 3 + RESPONSE_MS, () =>
          client.renewLease({ holder, position, leaseMs, usedTokenIds }),
        );
        if (stopped) return false;
        if (lease.leaseMs === 0) {
          const wasHeld = position !== "";
          position = "";
          end();
          return wasHeld;
        }
        const isRenewal = position !== "";
        if (lease.changed) drop();
        position = lease.position;
        // A renewal that reports a change does not extend the lease. The next renewal, which acknowledges the change,
        // does.
        if (isRenewal && lease.changed) return true;
        // In this process the lease begins when the request is sent, for the access service only when the request
        // arrives. It therefore ends first in this process.
        until = after(sent, lease.leaseMs);
        return true;
      } catch (error) {
        for (const id of usedTokenIds) used.add(id);
        throw error;
      }
    };

    const loop = startLoop({
      name: "authentication lease",
      intervalMs: PAUSE_MS,
      work: renew,
      logger,
    });
    return {
      async [Symbol.asyncDispose]() {
        stopped = true;
        // The kept principals are dropped before the lease is returned. After the return, the access service answers
        // requests that change tokens or grants without waiting for this process.
        end();
        // If the lease cannot be returned, it expires.
        await returnLease().catch(() => {});
        await loop[Symbol.asyncDispose]();
      },
    };
  };

  return {
    enabled: leaseMs > 0,
    async byToken(token, call) {
      if (leaseMs === 0) return call();
      const key = `token ${hashOf(token)}`;
      const known = findKept(key);
      if (known) used.add(known.tokenId);
      return known ?? request(key, call);
    },
    // This lookup is not reported as a use of the token, because the owner of the token has not sent it.
    async byTokenId(tokenId, call) {
      if (leaseMs === 0) return call();
      const key = `id ${tokenId}`;
      return findKept(key) ?? request(key, call);
    },
    hold(logger) {
      const gauge = metrics
        .getMeter("statehouse/rpc")
        .createObservableGauge("statehouse_authentication_lease_held", {
          description: "1 while this process holds a lease to keep what it knows about tokens",
        });
      const observe: Parameters<typeof gauge.addCallback>[0] = (result) =>
        result.observe(isBefore(until) ? 1 : 0);
      gauge.addCallback(observe);
      const held = leaseMs === 0 ? undefined : hold(logger);
      return {
        async [Symbol.asyncDispose]() {
          gauge.removeCallback(observe);
          await held?.[Symbol.asyncDispose]();
        },
      };
    },
  };
}

const hashOf = (token: string): string => hash("sha256", token, "base64");
