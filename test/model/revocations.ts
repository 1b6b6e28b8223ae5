import { setTimeout as sleep } from "node:timers/promises";
import { changeUser } from "@statehouse/access/commands/user";
import { migrations } from "@statehouse/access/store/migrations";
import { type Replica, startReplica } from "@statehouse/access/test/lease-replica";
import { AppError, unavailable } from "@statehouse/errors";
import { type FreshDatabase, freshDatabase } from "@statehouse/postgres/testing";
import {
  AuthenticationService,
  type Principal,
} from "@statehouse/proto/statehouse/access/v1/authentication";
import { OrganizationAccessService } from "@statehouse/proto/statehouse/access/v1/organization";
import { TeamService } from "@statehouse/proto/statehouse/access/v1/team";
import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import {
  type AuthenticationLease,
  type CallOptions,
  type Channel,
  createAuthenticationLease,
  createClient,
} from "@statehouse/rpc";
import { createLogger, runWithDeadline } from "@statehouse/runtime";
import { newServiceKeys } from "@statehouse/testing";
import { seededRandom } from "../stack/seeded-random.ts";
import type { Found, Range } from "./range.ts";

// Runs several replicas of the access service and several processes that authenticate requests under leases. Meanwhile,
// users are suspended, tokens are revoked and teams are created. Replicas are killed, processes are paused and cut off,
// requests arrive late, leases are lost, and clocks drift, stop and jump. No request that begins after the response to
// a change may see the data from before the change.

const LEASE_MS = 600;
const REPLICAS = 3;
const HOLDERS = 4;
const USERS = 16;
const CHANGERS = 4;
/** How long one history runs, in ms. */
const HISTORY_MS = 3000;
/** Time limit of each request that prepares a history, in ms. */
const PREPARATION_MS = 60_000;
/** Largest error of the rate of a clock, as a share: a clock can be too fast or too slow. */
const DRIFT = 0.02;

type Random = () => number;

/** A user and the changes to it. A change is confirmed when its response has arrived. */
interface User {
  id: string;
  username: string;
  /** Whether the user is suspended after each change, in the order of the changes. */
  suspended: boolean[];
  /** The number of confirmed changes. */
  answered: number;
  token: Token;
  changing: boolean;
}

interface Token {
  id: string;
  secret: string;
  revocation: "none" | "begun" | "answered";
}

/** A process that authenticates requests. */
interface Holder {
  lease: AuthenticationLease;
  clock: FaultyClock;
  isCut: "no" | "before" | "after" | "late";
  running: Promise<unknown>;
}

const pick = <T>(random: Random, from: readonly T[]): T => {
  const found = from[Math.floor(random() * from.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
};

/** A clock of a process. At most one of its two times is wrong by more than the drift. */
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

  /** Makes the clock behave as if the machine was suspended for `ms`, or as if the clock was set by about as much. */
  disturb(random: Random, ms: number): void {
    if (this.#faulty === "monotonic") this.#monotonicBehind += ms;
    else this.#wallOffset += (random() - 0.5) * 20 * ms;
  }
}

interface Counts {
  requests: number;
  hits: number;
  changes: number;
  faults: number;
}

/** Runs histories from `seed` until the time is over. Throws the first violation with its seed. */
export async function searchRevocations({ seed, forMs }: Range): Promise<Found> {
  await using database = await freshDatabase({ contextName: "access", migrations });
  const until = Date.now() + forMs;
  // The command that suspends users runs in this process and reads these variables.
  const settings = { DATABASE_URL: database.url, AUTHENTICATION_LEASE_SECONDS: "1" };
  const previous = Object.keys(settings).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, settings);
  let histories = 0;
  const counts: Counts = { requests: 0, hits: 0, changes: 0, faults: 0 };
  try {
    do {
      const left = Math.max(1000, Math.min(HISTORY_MS, until - Date.now()));
      await runHistory({ database, seed: seed + histories, forMs: left, counts });
      histories++;
      // On a busy machine a history can end before a lease was used.
    } while (Date.now() < until || (histories < 10 && (counts.hits === 0 || counts.changes === 0)));
  } finally {
    for (const [name, value] of previous) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
  const { requests, hits, changes, faults } = counts;
  console.info(
    `revocations: seed ${seed}, ${requests} requests, ${hits} from memory, ${changes} changes, ${faults} faults`,
  );
  if (hits === 0 || changes === 0) throw new Error(`seed ${seed}: nothing was tried`);
  return { histories, commands: requests + changes };
}

interface HistoryOptions {
  database: FreshDatabase;
  seed: number;
  forMs: number;
  counts: Counts;
}

async function runHistory({ database, seed, forMs, counts }: HistoryOptions): Promise<void> {
  const random = seededRandom(seed);
  await using stack = new AsyncDisposableStack();
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

  /** Calls one of the replicas, as a client behind a load balancer. */
  const anyReplica: Channel = {
    audience: "access",
    call: (...given) => pick(random, replicas).channel.call(...given),
    [Symbol.asyncDispose]: async () => {},
  };
  const users = createClient(UserService, anyReplica, identities.testing);
  const tokens = createClient(TokenService, anyReplica, identities.testing);
  const teams = createClient(TeamService, anyReplica, identities.testing);
  const organizations = createClient(OrganizationAccessService, anyReplica, identities.workspaces);

  const newToken = async (userId: string): Promise<Token> => {
    const { token, secret } = await tokens.createUserToken({ userId });
    return { id: token?.id ?? "", secret, revocation: "none" };
  };
  const newUser = async (name: string): Promise<User> => {
    const username = `${name}-${seed}`;
    const { user } = await users.createUser({ username, email: `${username}@example.com` });
    const id = user?.id ?? "";
    const token = await newToken(id);
    const state = { suspended: [false], answered: 0, changing: false };
    return { id, username, token, ...state };
  };
  // Longer than by default, because the machine can be busy and leases of the previous history may still hold.
  const prepare = <T>(work: () => Promise<T>) => runWithDeadline(Date.now() + PREPARATION_MS, work);
  const administrator = await prepare(() => newUser("administrator"));
  await database.query("update users set administrator = true where id = $1", [administrator.id]);
  const asAdministrator = identities.gateway.on({
    type: "user",
    id: administrator.id,
    versions: "u:0",
  });
  const organization = { id: `org-revocations${seed}`, version: 0n, changing: false };
  const { ownersTeamId: teamId } = await prepare(() =>
    organizations.provisionOrganization({
      organizationId: organization.id,
      creatorUserId: administrator.id,
    }),
  );
  const people: User[] = [];
  for (let count = 0; count < USERS; count++) {
    const user = await prepare(() => newUser(`user-${count}`));
    await prepare(() => teams.addTeamMember({ teamId, userId: user.id }));
    people.push(user);
  }

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
            const lost = () => unavailable("lost", "The service access does not answer.");
            await sleep(random() * 5);
            await holder.running;
            if (holder.isCut === "late") {
              // The connection is lost, and the request arrives after those that follow it.
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
  const logger = createLogger({ service: "model", level: "silent" });
  const leases = holders.map(({ lease }) => lease.hold(logger));

  const until = Date.now() + forMs;
  const over = () => Date.now() >= until;
  const violations: string[] = [];
  const inTime = <T>(work: () => Promise<T>) => runWithDeadline(Date.now() + 8000, work);

  /** Repeats work until it ends in time. An error that the service returns is an end as well. */
  const repeated = async (work: () => Promise<unknown>): Promise<void> => {
    for (;;) {
      try {
        await work();
        return;
      } catch (error) {
        const kind = error instanceof AppError ? error.kind : "internal";
        if (kind === "internal") throw error;
        if (kind !== "unavailable" && kind !== "deadlineExceeded") return;
        await sleep(5);
      }
    }
  };

  /** Repeats a request until the service responds. */
  const answered = (request: () => Promise<unknown>) => repeated(() => inTime(request));

  const suspend = async (user: User): Promise<void> => {
    const suspended = !user.suspended.at(-1);
    user.suspended.push(suspended);
    const request = () => users.setUserSuspended({ id: user.id, suspended }, asAdministrator);
    const way = random();
    if (way < 0.1) {
      // Without a time limit: the command ends when the change counts everywhere.
      const action = suspended ? "suspend" : "unsuspend";
      await repeated(() => changeUser([action, user.username], () => {}));
    } else {
      // Simulates a command that is killed directly after its commit.
      if (way < 0.2) {
        await database.query(
          "update users set suspended = $2, version = version + 1 where id = $1",
          [user.id, suspended],
        );
      }
      await answered(request);
    }
    user.answered = user.suspended.length - 1;
  };

  const revoke = async (user: User): Promise<void> => {
    const { token } = user;
    const own: CallOptions = identities.gateway.on({ type: "user", id: user.id, versions: "u:0" });
    token.revocation = "begun";
    await answered(() => tokens.deleteToken({ id: token.id }, own));
    token.revocation = "answered";
    await answered(async () => {
      user.token = await newToken(user.id);
    });
  };

  let names = 0;
  const createTeam = async (): Promise<void> => {
    const name = `team-${names++}`;
    await answered(() => teams.createTeam({ organizationId: organization.id, settings: { name } }));
    const [row] = await database.query<{ version: string }>(
      "select version from organizations where id = $1",
      [organization.id],
    );
    organization.version = BigInt(row?.version ?? 0);
  };

  const request = async (holder: Holder, user: User): Promise<void> => {
    await holder.running;
    const { token } = user;
    const first = user.answered;
    const wasRevoked = token.revocation === "answered";
    const organizationVersion = organization.version;
    const client = createClient(AuthenticationService, anyReplica, identities.gateway);
    let called = false;
    const call = async () => {
      called = true;
      await holder.running;
      const answer = await inTime(() =>
        client.authenticate({ token: token.secret, withExpiry: true }),
      );
      await sleep(random() * 5);
      await holder.running;
      return answer.principal;
    };
    const found = await observe(() => holder.lease.byToken(token.secret, call));
    counts.requests++;
    if (!called) counts.hits++;
    if (found === "unknown") return;
    // The request may see the user as it was after the last confirmed change, or after any later change.
    const possible = user.suspended.slice(first);
    const note = (what: string) => violations.push(`${user.username}: ${what}`);
    if (found === "refused") {
      if (!possible.includes(true) && token.revocation === "none")
        note("refused after it was allowed");
      return;
    }
    if (wasRevoked) note("a revoked token was accepted");
    if (!possible.includes(false)) note("a suspended user was accepted");
    const seen = new RegExp(`;${organization.id}:(\\d+)`).exec(found.versions)?.[1] ?? "0";
    if (BigInt(seen) < organizationVersion) note("an old version was used");
  };

  const load = async (holder: Holder): Promise<void> => {
    while (!over()) {
      await sleep(random() * 3);
      await request(holder, pick(random, people));
    }
  };

  /** Uses the user's token in each process. Does not wait for paused processes, which respond later. */
  const probe = (user: User): Promise<unknown> =>
    Promise.race([Promise.all(holders.map((holder) => request(holder, user))), sleep(50)]);

  const change = async (): Promise<void> => {
    while (!over()) {
      const user = pick(random, people);
      await sleep(random() * 20);
      if (random() < 0.2) {
        // Only one team is created at a time, because the version that is read from the database must be that of the
        // confirmed creation.
        if (organization.changing) continue;
        organization.changing = true;
        await createTeam();
        organization.changing = false;
      } else if (!user.changing) {
        user.changing = true;
        // Every process reads the user before the change. After the change, no process may use what it has read.
        await probe(user);
        if (random() < 0.2 && !user.suspended.at(-1)) await revoke(user);
        else await suspend(user);
        await probe(user);
        user.changing = false;
      } else continue;
      counts.changes++;
    }
  };

  const disturb = async (): Promise<void> => {
    while (!over()) {
      await sleep(random() * 400);
      counts.faults++;
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
    }
  };

  await Promise.all([
    ...Array.from({ length: CHANGERS }, change),
    ...holders.flatMap((holder) => [load(holder), load(holder)]),
    disturb(),
  ]);
  for (const lease of leases) await lease[Symbol.asyncDispose]();
  if (violations.length > 0) {
    throw new Error(
      `seed ${seed}: ${violations.length} violations: ${violations.slice(0, 5).join("; ")}`,
    );
  }
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

/** Returns the principal, `refused`, or `unknown` if the services did not answer. */
async function observe(
  request: () => Promise<Principal | undefined>,
): Promise<Principal | "refused" | "unknown"> {
  try {
    return (await request()) ?? "refused";
  } catch (error) {
    const kind = error instanceof AppError ? error.kind : "internal";
    if (kind === "unauthenticated") return "refused";
    if (kind === "unavailable" || kind === "deadlineExceeded") return "unknown";
    throw error;
  }
}
