import { setTimeout as sleep } from "node:timers/promises";
import { changeUser } from "@statehouse/access/commands/user";
import { migrations } from "@statehouse/access/store/migrations";
import { AppError } from "@statehouse/errors";
import { type FreshDatabase, freshDatabase } from "@statehouse/postgres/testing";
import {
  AuthenticationService,
  type Principal,
} from "@statehouse/proto/statehouse/access/v1/authentication";
import { OrganizationAccessService } from "@statehouse/proto/statehouse/access/v1/organization";
import { TeamService } from "@statehouse/proto/statehouse/access/v1/team";
import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import { type CallOptions, createClient } from "@statehouse/rpc";
import { runWithDeadline } from "@statehouse/runtime";
import { seededRandom } from "../stack/seeded-random.ts";
import { type Holder, pick, startLeaseFixture } from "./lease-fixture.ts";
import type { Found, Range } from "./range.ts";

// Users are suspended, tokens are revoked and teams are created, while faults disturb the replicas of the access
// service and the processes that authenticate requests under leases. No request that begins after the response to a
// change may see the data from before the change.

const USERS = 16;
const CHANGERS = 4;
/** How long one history runs, in ms. */
const HISTORY_MS = 3000;
/** Time limit of each request that prepares a history, in ms. */
const PREPARATION_MS = 60_000;

/** A user and the changes to it. A change is confirmed when its response has arrived. */
interface User {
  id: string;
  username: string;
  /** Whether the user was suspended before the first change and after each change. */
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

interface Counts {
  requests: number;
  hits: number;
  changes: number;
  faults: number;
}

/** Runs histories from `seed` until the time is over. Throws if a history has violations, with the history's seed. */
export async function searchRevocations({ seed, path, forMs }: Range): Promise<Found> {
  if (path !== undefined) {
    throw new Error(
      "Histories of revocations are not shrunk and have no path; the seed repeats one.",
    );
  }
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
      // On a busy machine a history can end before a lease was used; up to ten histories then run.
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
  if (hits === 0 || changes === 0)
    throw new Error(`seed ${seed}: no request used a lease, or no change was made`);
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
  const fixture = await startLeaseFixture({ database, random, stack });
  const { anyReplica, identities, holders } = fixture;
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
  // The time limit is longer than the default, because the machine can be busy and leases of the previous history may
  // not have ended.
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

  await using _leases = fixture.hold();

  const until = Date.now() + forMs;
  const over = () => Date.now() >= until;
  const violations: string[] = [];
  const inTime = <T>(work: () => Promise<T>) => runWithDeadline(Date.now() + 8000, work);

  /**
   * Repeats `work` while it fails with `unavailable` or `deadlineExceeded`. Throws internal errors and ignores all
   * others.
   */
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
      // This call has no time limit, because the command does not end while a process uses data from before the change.
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
        // Only one team is created at a time. After a creation, `createTeam` reads the organization's version from the
        // database. This version must not include another creation that is not confirmed yet.
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
      await fixture.disturb();
    }
  };

  await Promise.all([
    ...Array.from({ length: CHANGERS }, change),
    ...holders.flatMap((holder) => [load(holder), load(holder)]),
    disturb(),
  ]);
  if (violations.length > 0) {
    throw new Error(
      `seed ${seed}: ${violations.length} violations: ${violations.slice(0, 5).join("; ")}`,
    );
  }
}

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
