import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { freshDatabase } from "@statehouse/postgres/testing";
import { isRead } from "@statehouse/rpc";
import { runWithDeadline } from "@statehouse/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App } from "../app/app.ts";
import { createAuthenticationLeases, endOf } from "../app/authentication-lease.ts";
import { openOperatorApp } from "../commands/operator.ts";
import { hashOf, runSecretOf, SECRET_BYTES } from "../domain/token-secret.ts";
import { bindings } from "../rpc/bindings.ts";
import { authenticate, authenticateTokenId } from "../store/authentication.ts";
import {
  grantsOfAuditTrails,
  grantsOfOrganization,
  grantsOfTeam,
  grantsOfUser,
} from "../store/grants.ts";
import { migrations } from "../store/migrations.ts";
import { createLeases } from "../store/nouns.ts";
import { type RunningAccess, runAccess } from "./running-access.ts";

const LEASE_MS = 600_000;
let access: RunningAccess;
beforeAll(async () => {
  access = await runAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

describe("changes", () => {
  test("every table that authentication and grants read notes its changes", async () => {
    const statements = [
      authenticate.withExpiry,
      authenticateTokenId.withExpiry,
      grantsOfUser,
      grantsOfTeam,
      grantsOfOrganization,
      grantsOfAuditTrails,
    ].join("\n");
    const tables = await access.sql<{ name: string; events: string[] }>(
      `select t.table_name as name, array(
         select distinct event_manipulation::text from information_schema.triggers g
         where g.event_object_table = t.table_name
           and g.action_statement like '%note_authentication_change%' order by 1) as events
       from information_schema.tables t where t.table_schema = 'public' order by 1`,
    );
    const read = tables.filter(({ name }) => new RegExp(`(from|join) ${name}\\b`).test(statements));
    expect(Object.fromEntries(read.map(({ name, events }) => [name, events.join(" ")]))).toEqual({
      organization_memberships: "DELETE INSERT UPDATE",
      organizations: "DELETE INSERT UPDATE",
      team_accesses: "DELETE INSERT UPDATE",
      team_members: "DELETE INSERT UPDATE",
      teams: "DELETE INSERT UPDATE",
      token_ttl_policies: "DELETE INSERT UPDATE",
      // Inserts are not noted: before an insert, the user or token is unknown to every process, and no process keeps
      // unknown tokens.
      tokens: "DELETE UPDATE",
      users: "DELETE UPDATE",
    });
  });

  test("the last use of a token counts as no change", async () => {
    const { secret } = await access.person();
    const hash = "encode(sha256(convert_to($1, 'utf8')), 'hex')";
    const mark = () => access.sql("select xid from authentication_changes");
    await access.tokens.createUserToken({ userId: "" }).catch(() => {});
    expect(await mark()).toEqual([]);
    await access.sql(`update tokens set last_used_at = now() where hash = ${hash} or true`, [
      secret,
    ]);
    expect(await mark()).toEqual([]);
    await access.sql("update tokens set expired_at = expired_at - interval '1 minute' where true");
    expect(await mark()).not.toEqual([]);
  });

  test("every method that writes waits for the holders, whatever its outcome", async () => {
    let waits = 0;
    const app = { authenticationLeases: { awaitHolders: async () => void waits++ } };
    const without: string[] = [];
    for (const { desc, methods } of bindings(app as unknown as App)) {
      for (const method of desc.methods.filter((one) => !isRead(one))) {
        const before = waits;
        const request = create(method.input) as never;
        const caller = { kind: "service", name: "testing" } as const;
        await methods[method.localName]?.(request, { caller }).catch(() => {});
        if (waits === before) without.push(method.name);
      }
    }
    expect(without.toSorted()).toEqual([
      "AuthenticateSubscriber",
      "CreateRunToken",
      "DeleteRunToken",
      "RecordRefusal",
      "RenewLease",
      "RenewRunToken",
      "ReturnLease",
    ]);
  });
});

/** Creates two replicas of the access service on one database. Both use the same clock, which the test sets. */
async function replicas() {
  await using starting = new AsyncDisposableStack();
  const database = starting.use(await freshDatabase({ contextName: "access", migrations }));
  const opened = starting.use(await openOperatorApp({ url: database.url, maxLeaseMs: 0 }));
  const store = createLeases(opened.database).authenticationLeases;
  await store.know((await store.unacknowledged()).database);
  const clock = { now: 0 };
  const replica = () =>
    createAuthenticationLeases(store, { maxLeaseMs: LEASE_MS, monotonic: () => clock.now });
  await database.query(
    "insert into users (id, username, email, administrator, suspended, version, created_at) values ('user-1', 'u', 'u@example.com', false, false, 1, now())",
  );
  const stack = starting.move();
  return {
    clock,
    store,
    sql: database.query,
    first: replica(),
    second: replica(),
    change: () => database.query("update users set version = version + 1"),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

type Replicas = Awaited<ReturnType<typeof replicas>>;

/** Returns whether a change that is already committed still waits for a holder after 300 ms. */
const isWaiting = ({ second }: Replicas): Promise<boolean> =>
  runWithDeadline(Date.now() + 300, async () => {
    try {
      await second.awaitHolders();
      return false;
    } catch {
      return true;
    }
  });

const grantTo = ({ first }: Replicas, holder: string) =>
  first.renew({ holder, position: "", leaseMs: LEASE_MS });

describe("a change", () => {
  test("waits until the holder acknowledges it at any replica, and reaches it at once", async () => {
    await using both = await replicas();
    const { position } = await grantTo(both, "one");
    const renewal = both.first.renew({ holder: "one", position, leaseMs: LEASE_MS });
    await both.change();
    const waited = both.second.awaitHolders();
    const report = await renewal;
    expect(report.changed).toBe(true);
    expect(await isWaiting(both)).toBe(true);
    const next = both.first.renew({ holder: "one", position: report.position, leaseMs: LEASE_MS });
    await waited;
    expect(await both.sql("select from authentication_changes")).toEqual([]);
    await both.first.giveBack("one");
    expect((await next).changed).toBe(false);
  });

  test("waits even if the process that made it was killed before it reported it", async () => {
    await using both = await replicas();
    await grantTo(both, "one");
    await both.change();
    expect(await isWaiting(both)).toBe(true);
    await both.first.giveBack("one");
    expect(await isWaiting(both)).toBe(false);
  });

  test("does not wait for changes that were not made", async () => {
    await using both = await replicas();
    await grantTo(both, "one");
    await both.sql("begin; update users set version = 9; rollback");
    expect(await isWaiting(both)).toBe(false);
  });

  test("waits for a silent holder as long as its lease holds by the clock of the replica", async () => {
    await using both = await replicas();
    const { position } = await grantTo(both, "one");
    await both.change();
    expect(await isWaiting(both)).toBe(true);
    both.clock.now += endOf(LEASE_MS) - 1;
    expect(await isWaiting(both)).toBe(true);
    both.clock.now += 1;
    expect(await isWaiting(both)).toBe(false);
    // The renewal is refused, because the lease has ended.
    const request = { holder: "one", leaseMs: LEASE_MS };
    expect(await both.first.renew({ ...request, position })).toMatchObject({ leaseMs: 0 });
  });

  test("waits anew for a lease that was renewed meanwhile", async () => {
    await using both = await replicas();
    const { position } = await grantTo(both, "one");
    await both.second.removeEnded();
    both.clock.now += endOf(LEASE_MS);
    expect(await both.store.renew("one", position)).toMatchObject({ changed: false });
    await both.change();
    expect(await isWaiting(both)).toBe(true);
  });

  test("does not wait longer for a holder that renews its lease and receives no responses", async () => {
    await using both = await replicas();
    const { position } = await grantTo(both, "one");
    await both.change();
    expect(await isWaiting(both)).toBe(true);
    both.clock.now += endOf(LEASE_MS);
    expect(await both.store.renew("one", position)).toMatchObject({ changed: true });
    expect(await isWaiting(both)).toBe(false);
  });

  test("is not acknowledged by a delayed request for a lease", async () => {
    await using both = await replicas();
    await grantTo(both, "one");
    await both.change();
    // A copy of the first request arrives after the change. The request was sent before the change, so it must not
    // acknowledge the change.
    expect(await grantTo(both, "one")).toMatchObject({ leaseMs: 0 });
    expect(await isWaiting(both)).toBe(true);
  });

  test("waits for a lease as long as its holder may use it, whatever replica renews it", async () => {
    await using both = await replicas();
    const maxLeaseMs = 30;
    const monotonic = () => both.clock.now;
    const other = createAuthenticationLeases(both.store, { maxLeaseMs, monotonic });
    const { position } = await other.renew({ holder: "one", position: "", leaseMs: LEASE_MS });
    const renewed = both.first.renew({ holder: "one", position, leaseMs: LEASE_MS });
    expect(await renewed).toMatchObject({ leaseMs: maxLeaseMs, changed: false });
  });

  test("of a transaction that began before the lease and committed after it is reported", async () => {
    await using both = await replicas();
    const other = await openOperatorApp({
      url: new URL(await urlOf(both)).href,
      maxLeaseMs: 0,
    });
    await using _ = other;
    const changed = Promise.withResolvers<void>();
    const granted = Promise.withResolvers<void>();
    const change = other.app.transaction(async (tx) => {
      const user = await tx.users.getForUpdate("user-1");
      user.version += 1n;
      await tx.users.save(user);
      changed.resolve();
      await granted.promise;
    });
    await changed.promise;
    // A transaction that begins later commits first: transactions do not commit in the order of their numbers.
    await both.sql("insert into authentication_databases values ('later')");
    const { position } = await grantTo(both, "one");
    granted.resolve();
    await change;
    expect((await both.store.look(position)).changed).toBe(true);
    expect(await isWaiting(both)).toBe(true);
  });
});

describe("a restored database", () => {
  /** Removes the rows of leases, as a restore of an earlier backup does. */
  const restore = ({ sql }: Replicas) =>
    sql("with gone as (delete from authentication_databases) delete from authentication_leases");

  test("ends all leases, and changes wait as long as one of them can hold", async () => {
    await using both = await replicas();
    const { position } = await grantTo(both, "one");
    await restore(both);
    await both.change();
    expect(await isWaiting(both)).toBe(true);
    both.clock.now += endOf(LEASE_MS) - 1;
    expect(await isWaiting(both)).toBe(true);
    both.clock.now += 1;
    expect(await isWaiting(both)).toBe(false);
    expect(await isWaiting(both)).toBe(false);
    const request = { holder: "one", position, leaseMs: LEASE_MS };
    expect(await both.first.renew(request)).toMatchObject({ leaseMs: 0 });
  });

  test("does not accept the position of another server", async () => {
    await using both = await replicas();
    const { position } = await grantTo(both, "one");
    const elsewhere = `other/${position.split("/")[1]}`;
    expect(await both.store.renew("one", elsewhere)).toBeUndefined();
  });
});

describe("the time for which a principal may be cached", () => {
  const cacheableFor = async (secret: string, withExpiry = true): Promise<number> => {
    const { principal } = await access.authentication.authenticate({ token: secret, withExpiry });
    return Number(principal?.cacheableForMs);
  };

  /**
   * Expects that the principal may be cached until `end`. The response contains a duration, so the test measures it
   * from the times before and after the request.
   */
  const expectEnd = async (secret: string, end: number): Promise<void> => {
    const before = Date.now();
    const ms = await cacheableFor(secret);
    expect(ms).toBeLessThanOrEqual(end - before);
    expect(ms).toBeGreaterThanOrEqual(end - Date.now());
  };

  test("is limited by the expiry of the token, and by the next lifetime policy that it outlives", async () => {
    const { id, secret } = await access.person();
    const [token] = await access.sql<{ expired_at: Date; created_at: Date }>(
      "select expired_at, created_at from tokens where user_id = $1",
      [id],
    );
    const expiredAt = token?.expired_at.getTime() ?? 0;
    await expectEnd(secret, expiredAt);
    const organizationId = "org-lifetimes";
    await access.organizations.provisionOrganization({ organizationId, creatorUserId: id });
    await expectEnd(secret, expiredAt);
    await access.sql("update organizations set max_ttl_enabled = true where id = $1", [
      organizationId,
    ]);
    const limit = (ms: number) =>
      access.sql(
        `insert into token_ttl_policies values ($1, 'user', $2, now(), now())
         on conflict (organization_id, token_type) do update set max_ttl_ms = $2`,
        [organizationId, ms],
      );
    await limit(3_600_000);
    await expectEnd(secret, (token?.created_at.getTime() ?? 0) + 3_600_000);
    // The token already outlives this policy, which is marked in the version vector. The policy therefore no longer
    // limits the time.
    await limit(1);
    await expectEnd(secret, expiredAt);
  });

  test("is 0 unless the request asks for it, and 0 for runs", async () => {
    const { secret } = await access.person();
    expect(await cacheableFor(secret, false)).toBe(0);
    const run = runSecretOf(randomBytes(SECRET_BYTES));
    await access.sql(
      "insert into runs values ('run-leases', 'ws-leases', 'org-leases', 'runner', now() + interval '1 hour')",
    );
    await access.sql(
      "insert into run_tokens values ('at-leases', 'run-leases', $1, 1, now() + interval '1 hour')",
      [hashOf(run)],
    );
    expect(await cacheableFor(run)).toBe(0);
  });
});

const urlOf = async ({ sql }: Replicas): Promise<string> => {
  const [row] = await sql<{ name: string }>("select current_database() as name");
  const url = new URL(access.environment.DATABASE_URL);
  url.pathname = `/${row?.name}`;
  return url.href;
};
