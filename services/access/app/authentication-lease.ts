import { setTimeout as sleep } from "node:timers/promises";
import { unavailable } from "@statehouse/errors";
import { durationHistogram, remainingMs } from "@statehouse/runtime";
import type { AuthenticationLeaseStore, HeldLease } from "../store/authentication-lease.ts";

/**
 * Grants leases under which other processes keep the principals of tokens in memory, and lets changes wait for the
 * holders of leases (ADR 74).
 */
export interface AuthenticationLeases {
  /**
   * Grants or renews a lease. A new lease is returned at once. A renewal returns as soon as tokens or grants have
   * changed since `request.position`, or after a third of the lease, but after two seconds at the latest. It extends
   * the lease only if nothing had changed when the request arrived.
   */
  renew(request: LeaseRequest): Promise<Lease>;
  giveBack(holder: string): Promise<void>;
  /**
   * Waits until no process uses outdated principals: those that it read before one of the changes that were committed
   * before this call. Throws `unavailable` if the deadline of the request passes first.
   */
  awaitHolders(): Promise<void>;
  /** Removes the leases that have ended, so that no change has to wait for them. */
  removeEnded(): Promise<void>;
}

export interface LeaseRequest {
  holder: string;
  /** The position of the last response. Empty if the holder keeps no principals and requests a new lease. */
  position: string;
  leaseMs: number;
}

export interface Lease {
  /** 0 if there is no lease. */
  leaseMs: number;
  position: string;
  /** Whether the holder must drop the principals that it keeps. */
  changed: boolean;
}

export interface AuthenticationLeaseOptions {
  /** The longest lease to grant, in ms. If it is 0, no leases are granted. */
  maxLeaseMs: number;
  /** A clock that only grows, in ms. Default: the clock of the process. */
  monotonic?: () => number;
}

/**
 * The interval, in ms, at which this process polls the database for the changes of other processes, while a renewal
 * waits in this process.
 */
const LOOK_MS = 20;
/**
 * The pauses between two queries for leases that have not acknowledged a change, in ms. The long pauses occur only if a
 * holder does not respond.
 */
const PAUSES_MS = [2, 4, 8, 8, 8, 16, 16, 16, 32, 50];
/** The longest time, in ms, after which a renewal returns even if nothing has changed. */
const LONGEST_WAIT_MS = 2000;

/**
 * Returns how long, in ms, this process waits for the next renewal of a lease before the lease counts as ended. The
 * rates of clocks may differ by 5 %. A holder counts its lease from the time at which it sent the request, which is
 * before this process could see the lease.
 */
export const endOf = (leaseMs: number): number => leaseMs * 1.05 + 500;

const NONE: Lease = { leaseMs: 0, position: "", changed: true };

export function createAuthenticationLeases(
  store: AuthenticationLeaseStore,
  { maxLeaseMs, monotonic = () => performance.now() }: AuthenticationLeaseOptions,
): AuthenticationLeases {
  /**
   * For each lease, the time at which this process first saw the lease's current renewal; the key is the database
   * server and the holder. Also, for each database server whose table of leases may still be incomplete (see
   * `isComplete`), the time at which this process first saw the server; the key is the server. A server has another key
   * after each start.
   */
  const firstSeen = new Map<string, { renewal: number; at: number }>();
  const changes = createSignal();
  const renewals = createSignal();
  const waits = durationHistogram("statehouse/access", {
    name: "statehouse_authentication_change_wait_seconds",
    description: "Time for which changes of tokens and grants waited for the holders of leases",
  });
  let waiting = 0;
  let looking = false;
  let mark = "";

  const seenFor = (key: string, renewal: number): number => {
    const known = firstSeen.get(key);
    if (known?.renewal === renewal) return monotonic() - known.at;
    firstSeen.set(key, { renewal, at: monotonic() });
    return 0;
  };

  /** Returns whether the lease has ended; if so, deletes it. Uses only the clock of this process. */
  const hasEnded = async (database: string, lease: HeldLease): Promise<boolean> => {
    const key = `${database} ${lease.holder}`;
    if (seenFor(key, lease.renewal) < endOf(lease.leaseMs)) return false;
    if (!(await store.end(lease))) return false;
    firstSeen.delete(key);
    return true;
  };

  /**
   * Returns whether the table of leases is known to contain every lease that has not ended. After a start or a restore
   * of the database server, leases can be missing from it. When even the longest lease that was granted before must
   * have ended, the table is complete again; this is then recorded.
   */
  const isComplete = async (database: string, known: boolean): Promise<boolean> => {
    if (known || maxLeaseMs === 0) return true;
    if (seenFor(database, 0) < endOf(maxLeaseMs)) return false;
    await store.know(database);
    firstSeen.delete(database);
    return true;
  };

  /** Polls the database for changes made by other processes, as long as any renewal waits in this process. */
  const lookForChanges = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      while (waiting > 0) {
        await sleep(LOOK_MS);
        const now = await store.changesMark();
        if (now === mark) continue;
        mark = now;
        changes.notify();
      }
    } finally {
      looking = false;
    }
  };

  const nextChange = async (signal: Promise<void>, waitMs: number): Promise<void> => {
    waiting++;
    const over = new AbortController();
    // If the database is unavailable, the renewal waits until its time limit, and its next query fails.
    lookForChanges().catch(() => {});
    try {
      await Promise.race([
        signal,
        sleep(waitMs, undefined, { signal: over.signal }).catch(() => {}),
      ]);
    } finally {
      over.abort();
      waiting--;
    }
  };

  return {
    async renew({ holder, position, leaseMs: wanted }) {
      const leaseMs = Math.min(wanted, maxLeaseMs);
      if (leaseMs === 0) return NONE;
      if (position === "") {
        const granted = await store.grant(holder, leaseMs);
        return granted === undefined ? NONE : { leaseMs, position: granted, changed: true };
      }
      // The promise is created before the query, so that a change after the query cannot be missed.
      const signal = changes.next();
      const renewed = await store.renew(holder, position);
      if (!renewed) return NONE;
      renewals.notify();
      // The holder must not use the lease for longer than the lease's row says, because changes wait for that long. The
      // replica that granted the lease can have a different maximum.
      const lease = { ...renewed, leaseMs: Math.min(leaseMs, renewed.leaseMs) };
      if (lease.changed) return lease;
      await nextChange(signal, Math.min(lease.leaseMs / 3, LONGEST_WAIT_MS));
      return { ...lease, ...(await store.look(position)) };
    },

    async giveBack(holder) {
      await store.giveBack(holder);
      renewals.notify();
      changes.notify();
    },

    async awaitHolders() {
      const startedAt = monotonic();
      let found = await store.unacknowledged();
      const { snapshot } = found;
      for (let attempt = 0; ; attempt++) {
        const signal = renewals.next();
        const ended = await Promise.all(
          found.leases.map((lease) => hasEnded(found.database, lease)),
        );
        const complete = await isComplete(found.database, found.known);
        if (complete && ended.every((one) => one)) break;
        // Wakes the renewals that wait in this process for a change, so that they return now and not after the next
        // poll of the database. Once is enough: a renewal that arrives later finds the change with its own query.
        if (attempt === 0) changes.notify();
        const left = remainingMs();
        if (left !== undefined && left <= 0) throw holdersSilent();
        const pause = PAUSES_MS[attempt] ?? 50;
        await Promise.race([signal, sleep(pause)]);
        found = await store.unacknowledged(snapshot).catch((error: unknown) => {
          throw remainingMs() === 0 ? holdersSilent() : error;
        });
      }
      if (found.changes) await store.removeChanges(snapshot);
      waits.record((monotonic() - startedAt) / 1000);
    },

    async removeEnded() {
      const all = await store.list();
      for (const { database, ...lease } of all) await hasEnded(database, lease);
      const keys = new Set(all.map(({ database, holder }) => `${database} ${holder}`));
      const { database, known } = await store.unacknowledged();
      await isComplete(database, known);
      for (const key of firstSeen.keys()) {
        if (!keys.has(key) && key !== database) firstSeen.delete(key);
      }
    },
  };
}

const holdersSilent = () =>
  unavailable(
    "authentication_leases_held",
    "The change is made, but not every process has confirmed it yet. Repeat the request.",
  );

interface Signal {
  /** Returns a promise that the next call of `notify` resolves. */
  next(): Promise<void>;
  notify(): void;
}

function createSignal(): Signal {
  let current = Promise.withResolvers<void>();
  return {
    next: () => current.promise,
    notify() {
      current.resolve();
      current = Promise.withResolvers();
    },
  };
}
