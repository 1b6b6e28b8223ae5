import { setTimeout as sleep } from "node:timers/promises";
import { type Replica, startReplica } from "@statehouse/access/test/lease-replica";
import { unavailable } from "@statehouse/errors";
import type { FreshDatabase } from "@statehouse/postgres/testing";
import { type AuthenticationLease, type Channel, createAuthenticationLease } from "@statehouse/rpc";
import { createLogger } from "@statehouse/runtime";
import { newServiceKeys } from "@statehouse/testing";

// Several replicas of the access service and several processes that authenticate requests under leases. Replicas are
// killed, processes are paused and cut off, requests arrive late, leases are lost, and clocks drift, stop and jump.

const LEASE_MS = 600;
const REPLICAS = 3;
const HOLDERS = 4;
/** Largest error of a clock's rate, as a fraction: 0.02 means up to 2 % too fast or too slow. */
const DRIFT = 0.02;

type Random = () => number;

/** A process that authenticates requests. */
export interface Holder {
  lease: AuthenticationLease;
  clock: FaultyClock;
  isCut: "no" | "before" | "after" | "late";
  running: Promise<unknown>;
}

export const pick = <T>(random: Random, from: readonly T[]): T => {
  const found = from[Math.floor(random() * from.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
};

/**
 * The clock of a process, with a monotonic and a wall time. Both run at the same rate, which is wrong by at most
 * `DRIFT`. One of them, chosen at random, is also faulty: the monotonic time can stop, or the wall time can jump.
 */
class FaultyClock {
  readonly #rate: number;
  readonly #faulty: "monotonic" | "wall";
  #monotonicBehind = 0;
  #wallOffset = 0;

  constructor(random: Random) {
    this.#rate = 1 + (random() * 2 - 1) * DRIFT;
    this.#faulty = pick(random, ["monotonic", "wall"] as const);
  }

  readonly monotonic = (): number => (performance.now() - this.#monotonicBehind) * this.#rate;
  readonly wall = (): number =>
    performance.timeOrigin + performance.now() * this.#rate + this.#wallOffset;

  /**
   * Disturbs the faulty one of the two times: the monotonic time loses `ms`, as on a suspended machine, or the wall
   * time jumps by up to ten times `ms`, forward or backward.
   */
  disturb(random: Random, ms: number): void {
    if (this.#faulty === "monotonic") this.#monotonicBehind += ms;
    else this.#wallOffset += (random() - 0.5) * 20 * ms;
  }
}

interface LeaseFixtureOptions {
  database: FreshDatabase;
  random: Random;
  /** Disposes of the replicas. */
  stack: AsyncDisposableStack;
}

/** Starts the replicas of the access service, and creates the authenticating processes, which hold no leases yet. */
export async function startLeaseFixture({ database, random, stack }: LeaseFixtureOptions) {
  const { publicKeys: keys, identities } = await newServiceKeys(
    "gateway",
    "testing",
    "workspaces",
    "access",
  );
  const replicas: Replica[] = [];
  const newReplica = async (): Promise<Replica> => {
    const { monotonic } = new FaultyClock(random);
    const options = { url: database.url, keys, maxLeaseMs: LEASE_MS, monotonic };
    return stack.use(await startReplica(options));
  };
  for (let count = 0; count < REPLICAS; count++) replicas.push(await newReplica());

  const anyReplica: Channel = {
    audience: "access",
    call: (...given) => pick(random, replicas).channel.call(...given),
    [Symbol.asyncDispose]: async () => {},
  };

  const holders: Holder[] = Array.from({ length: HOLDERS }, () => {
    const clock = new FaultyClock(random);
    const holder: Holder = {
      clock,
      isCut: "no",
      running: Promise.resolve(),
      lease: createAuthenticationLease({
        access: {
          audience: "access",
          async call(...given) {
            const lost = () => unavailable("lost", "The access service does not answer.");
            await sleep(random() * 5);
            await holder.running;
            if (holder.isCut === "late") {
              // The connection is lost, and the request can arrive after later requests.
              const delayMs = random() * 2 * LEASE_MS;
              setTimeout(() => anyReplica.call(...given).catch(() => {}), delayMs);
              throw lost();
            }
            if (holder.isCut === "before") {
              await sleep(50);
              throw lost();
            }
            const answer = await anyReplica.call(...given);
            await sleep(random() * 10);
            await holder.running;
            if (holder.isCut === "after") throw lost();
            return answer;
          },
          [Symbol.asyncDispose]: async () => {},
        },
        identity: identities.gateway,
        leaseMs: LEASE_MS,
        clocks: clock,
      }),
    };
    return holder;
  });

  return {
    identities,
    holders,
    /** Calls one of the replicas, as a client behind a load balancer. */
    anyReplica,

    /** Makes the processes hold leases until the result is disposed. */
    hold(): AsyncDisposable {
      const logger = createLogger({ service: "model", level: "silent" });
      const leases = new AsyncDisposableStack();
      for (const { lease } of holders) leases.use(lease.hold(logger));
      return leases;
    },

    /** Causes a fault, and waits until it ends. */
    async disturb(): Promise<void> {
      const kind = random();
      const ms = random() * 4 * LEASE_MS;
      const holder = pick(random, holders);
      if (kind < 0.3) {
        const position = Math.floor(random() * replicas.length);
        const victim = replicas[position];
        replicas[position] = await newReplica();
        victim?.kill();
      } else if (kind < 0.5) {
        // Interrupts the network between a process and the access service.
        holder.isCut = pick(random, ["before", "after", "late"] as const);
        await sleep(ms);
        holder.isCut = "no";
      } else if (kind < 0.8) {
        // Simulates a process that does not run, or a machine that is suspended.
        const paused = Promise.withResolvers<void>();
        holder.running = paused.promise;
        await sleep(ms);
        if (random() < 0.5) holder.clock.disturb(random, ms);
        paused.resolve();
      } else if (kind < 0.87) holder.clock.disturb(random, ms);
      else if (kind < 0.92) await loseLeases(database);
      else {
        const resume = pick(random, replicas).pause();
        await sleep(ms);
        resume();
      }
    },
  };
}

/**
 * Replaces the table of leases with an empty one, as if the database failed over to a copy that has not received the
 * leases.
 */
const loseLeases = (database: FreshDatabase): Promise<unknown> =>
  database.query(`
    create table new_leases (like authentication_leases including all);
    drop table authentication_leases;
    alter table new_leases rename to authentication_leases`);
