import type { Principal } from "@statehouse/proto/statehouse/access/v1/authentication";
import { AuthenticationLeaseService } from "@statehouse/proto/statehouse/access/v1/authentication_lease";
import { createLogger } from "@statehouse/runtime";
import { expect, test, vi } from "vitest";
import { createIdentity, generateAssertionKey } from "./assertion.ts";
import { createAuthenticationLease } from "./authentication-lease.ts";
import { createRpcServer } from "./server.ts";
import { implement } from "./service.ts";

const logger = createLogger({ service: "test", level: "silent" });
const LEASE_MS = 1000;

/**
 * Starts a stub of the access service and a client that requests an authentication lease from it. The stub responds to
 * a renewal only when the test calls `renew`.
 */
async function underLease() {
  const stack = new AsyncDisposableStack();
  const { privateJwk, publicJwk } = await generateAssertionKey();
  const identity = await createIdentity("gateway", privateJwk);
  const requests: { holder: string; position: string; usedTokenIds: string[] }[] = [];
  const returned: string[] = [];
  let stopping = false;
  let answer = Promise.withResolvers<{ leaseMs: number; position: string; changed: boolean }>();
  const server = stack.use(
    createRpcServer({
      name: "access",
      keys: { gateway: [publicJwk] },
      logger,
      context: async () => ({}),
      bindings: [
        implement(AuthenticationLeaseService, {
          renewLease: async ({ holder, position, usedTokenIds }) => {
            requests.push({ holder, position, usedTokenIds });
            return answer.promise;
          },
          returnLease: async ({ holder }) => {
            returned.push(holder);
            if (stopping) renew({ leaseMs: 0 });
            return {};
          },
        }),
      ],
    }),
  );
  const renew = ({ leaseMs = LEASE_MS, position = "1", changed = false }) => {
    const current = answer;
    answer = Promise.withResolvers();
    current.resolve({ leaseMs, position, changed });
  };
  const clocks = { time: 5000, wallTime: 1_000_000 };
  const lease = createAuthenticationLease({
    access: server.inProcess(),
    identity,
    leaseMs: LEASE_MS,
    clocks: { monotonic: () => clocks.time, wall: () => clocks.wallTime },
  });
  const holding = stack.use(lease.hold(logger));
  const requested = (count: number) => vi.waitFor(() => expect(requests.length).toBe(count));
  await requested(1);
  let calls = 0;
  const principal = (more: Partial<Principal> = {}): Principal => ({
    $typeName: "statehouse.access.v1.Principal",
    type: "user",
    id: "user-1",
    versions: "u:1",
    tokenId: "at-1",
    cacheableForMs: 9_000_000n,
    ...more,
  });
  return {
    clocks,
    lease,
    requests,
    returned,
    renew,
    requested,
    principal,
    /** Grants the lease that the client has requested. */
    async grant() {
      renew({ changed: true });
      await requested(requests.length + 1);
    },
    /** Returns whether authenticating the token calls the access service. */
    async isCalled(found: Principal | undefined = principal(), token = "secret"): Promise<boolean> {
      const before = calls;
      await lease.byToken(token, async () => {
        calls++;
        return found;
      });
      return calls > before;
    },
    /** Returns whether authenticating the token `at-1` by its id calls the access service. */
    async isCalledById(): Promise<boolean> {
      let isCalled = false;
      await lease.byTokenId("at-1", async () => {
        isCalled = true;
        return principal();
      });
      return isCalled;
    },
    /** Ends the lease, as when the process stops. */
    async stop() {
      stopping = true;
      await holding[Symbol.asyncDispose]();
    },
    async [Symbol.asyncDispose]() {
      stopping = true;
      renew({ leaseMs: 0 });
      await stack.disposeAsync();
    },
  };
}

test("a principal is kept while the lease holds, by token and by id", async () => {
  await using process = await underLease();
  expect(await process.isCalled()).toBe(true);
  expect(await process.isCalled()).toBe(true);
  await process.grant();
  expect(await process.isCalled()).toBe(true);
  expect(await process.isCalled()).toBe(false);
  expect(await process.isCalled(process.principal(), "other")).toBe(true);
  expect([await process.isCalledById(), await process.isCalledById()]).toEqual([true, false]);
});

test.each([
  ["the monotonic clock", "time"],
  ["the wall clock", "wallTime"],
] as const)("nothing is used once %s says that the lease has ended", async (_, clock) => {
  await using process = await underLease();
  // The lease begins when the request is sent, however long the response takes.
  process.clocks.time += LEASE_MS - 10;
  process.clocks.wallTime += LEASE_MS - 10;
  await process.grant();
  await process.isCalled();
  expect(await process.isCalled()).toBe(false);
  process.clocks[clock] += 10;
  expect(await process.isCalled()).toBe(true);
});

test("refusals and run tokens are not kept", async () => {
  await using process = await underLease();
  await process.grant();
  const isKept = async (found: Principal | undefined, token: string) => {
    await process.lease.byToken(token, async () => found);
    return !(await process.isCalled(found, token));
  };
  expect(await isKept(undefined, "unknown")).toBe(false);
  expect(await isKept(process.principal({ type: "run", cacheableForMs: 0n }), "run")).toBe(false);
});

test.each([
  ["the monotonic clock", "time"],
  ["the wall clock", "wallTime"],
] as const)("a token is not kept once %s says that it has expired", async (_, clock) => {
  await using process = await underLease();
  await process.grant();
  const expiring = process.principal({ cacheableForMs: 100n });
  // The remaining validity begins when the request is sent, however long the response takes and whatever time the
  // clocks show.
  await process.lease.byToken("expiring", async () => {
    process.clocks.time += 50;
    process.clocks.wallTime += 50;
    return expiring;
  });
  expect(await process.isCalled(expiring, "expiring")).toBe(false);
  process.clocks[clock] += 45;
  expect(await process.isCalled(expiring, "expiring")).toBe(true);
});

test("a change drops everything, and what was requested before it", async () => {
  await using process = await underLease();
  await process.grant();
  await process.isCalled();
  const slow = Promise.withResolvers<Principal>();
  const requested = process.lease.byToken("slow", () => slow.promise);
  process.renew({ position: "2", changed: true });
  await process.requested(3);
  expect(process.requests.at(-1)).toMatchObject({ position: "2", usedTokenIds: [] });
  expect(await process.isCalled()).toBe(true);
  slow.resolve(process.principal());
  await requested;
  expect(await process.isCalled(process.principal(), "slow")).toBe(true);
});

test("a change does not extend the lease, and the renewal that acknowledges it does", async () => {
  await using process = await underLease();
  await process.grant();
  process.clocks.time += LEASE_MS / 2;
  process.renew({ position: "2", changed: true });
  await process.requested(3);
  process.clocks.time += LEASE_MS / 2 - 10;
  await process.isCalled();
  expect(await process.isCalled()).toBe(false);
  process.renew({ position: "3" });
  await process.requested(4);
  process.clocks.time += 10;
  // The lease began when the request that acknowledged the change was sent, so it has not ended yet.
  expect(await process.isCalled()).toBe(false);
  process.clocks.time += LEASE_MS / 2;
  expect(await process.isCalled()).toBe(true);
});

test("each request for a new lease has an id of its own, and the previous lease is returned", async () => {
  await using process = await underLease();
  await process.grant();
  process.renew({ leaseMs: 0, position: "" });
  await process.requested(3);
  const [first, renewal, second] = process.requests.map(({ holder }) => holder);
  expect(renewal).toBe(first);
  expect(second).not.toBe(first);
  expect(process.returned).toEqual([first]);
});

test("a lease that the access service does not know drops everything and is requested again", async () => {
  await using process = await underLease();
  await process.grant();
  await process.isCalled();
  process.renew({ leaseMs: 0, position: "" });
  await process.requested(3);
  expect(process.requests.at(-1)?.position).toBe("");
  expect(await process.isCalled()).toBe(true);
  await process.grant();
  expect(await process.isCalled()).toBe(true);
  expect(await process.isCalled()).toBe(false);
});

test("the tokens that were used are reported with the next renewal", async () => {
  await using process = await underLease();
  await process.grant();
  await process.isCalled();
  await process.isCalled();
  process.renew({});
  await process.requested(3);
  // A lookup by the token's id is not a use, because the owner of the token has not sent the token itself.
  await process.isCalledById();
  await process.isCalledById();
  process.renew({});
  await process.requested(4);
  expect(process.requests.map(({ usedTokenIds }) => usedTokenIds)).toEqual([[], [], ["at-1"], []]);
});

test("a process that stops returns its lease, and keeps nothing after that", async () => {
  await using process = await underLease();
  await process.grant();
  await process.isCalled();
  await process.stop();
  expect(process.returned).toEqual([process.requests[0]?.holder]);
  expect(await process.isCalled()).toBe(true);
  expect(await process.isCalled()).toBe(true);
});
