import { setTimeout as sleep } from "node:timers/promises";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import {
  type AuthenticationLease,
  createAuthenticationLease,
  createClient,
  createIdentity,
} from "@statehouse/rpc";
import { createLogger } from "@statehouse/runtime";
import { newOrganization } from "../../stack/organization.ts";
import { type ProcessStack, startProcesses } from "../../stack/stack.ts";
import { newWorkspaceIn } from "../../stack/workspace.ts";
import { type Aim, atLeast, atMost } from "../aim.ts";
import type { Ground } from "../bench.ts";
import { type Caller, callerOf } from "../caller.ts";
import type { Contender } from "../contest.ts";
import { quantile } from "../statistics.ts";
import { printTable } from "../table.ts";
import { printRates } from "./rates.ts";

const WORKSPACES = 20;
const LEASE_SECONDS = 5;
/** The number of processes that hold a lease: the gateway, state, and those that this process simulates. */
const HOLDERS = 10;
/** The number of one-second rounds of load during which a user is repeatedly suspended and unsuspended. */
const ROUNDS = 20;
const PAUSE_MS = 50;
/** The number of tokens that each simulated holder uses, and its pause between two authentications in ms. */
const TOKENS = 20;
const HOLDER_PAUSE_MS = 5;
/** The longest wait for a silent holder, in ms: the lease and a margin of 5 % and 500 ms (ADR 74). */
const LONGEST_WAIT_MS = LEASE_SECONDS * 1050 + 500;

interface Side {
  stack: ProcessStack;
  contender: Contender;
}

/**
 * (v) Measures what leases save when a workspace is shown, alternating between four processes with leases and four
 * without. Then measures how long the response to a change waits for ten holders under load, and for a holder that was
 * killed.
 */
export async function authenticationLeases(ground: Ground): Promise<Aim[]> {
  await using without = await startProcesses(optionsOf(0));
  await using within = await startProcesses(optionsOf(LEASE_SECONDS));
  const off = await sideOf(ground, "without leases", without);
  const on = await sideOf(ground, "with leases", within);
  const measured = await ground.contest([off.contender, on.contender]);
  printRates("(v) show, four processes", measured, { ratio: "of without" });
  return [
    atLeast("(v) show with leases, of without", 1, measured[1]?.ratio ?? 0),
    ...(await revocations(ground, on)),
  ];
}

const optionsOf = (seconds: number) => ({
  blobs: "directory" as const,
  settings: { LOG_LEVEL: "warn", AUTHENTICATION_LEASE_SECONDS: String(seconds) },
});

async function sideOf(ground: Ground, name: string, stack: ProcessStack): Promise<Side> {
  const caller: Caller = callerOf(stack, await stack.people.newUser());
  const organization = await newOrganization(caller.api);
  const ids: string[] = [];
  for (let index = 0; index < WORKSPACES; index++) {
    ids.push((await newWorkspaceIn(caller.api, organization)).id);
  }
  const contender = {
    name,
    plan: {
      origin: stack.url,
      headers: caller.headers,
      connections: Array.from({ length: ground.options.clients }, (_, index) => [
        {
          method: "GET",
          path: `/api/v2/workspaces/${ids[index % ids.length]}`,
          expect: 200,
        } as const,
      ]),
    },
    processes: [
      ...Object.values(stack.processes).map((one) => ({ name: one.name, pid: one.pid() })),
      ground.postgres,
    ],
  };
  return { stack, contender };
}

async function revocations(ground: Ground, { stack, contender }: Side): Promise<Aim[]> {
  const change = await suspensions(stack);
  const holders = await startHolders(stack);
  // Waits until every holder has a lease.
  await sleep(LEASE_SECONDS * 1000);
  const load = ground.contest([contender], { warmUp: 1, rounds: ROUNDS });
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  load.then(end, end);
  const before = holders.counts();
  const waits: number[] = [];
  while (!isOver) {
    waits.push(await change());
    await sleep(PAUSE_MS);
  }
  await load;
  const after = holders.counts();
  const healthy = waits.toSorted((one, other) => one - other);
  await stack.processes.state.kill();
  const [dead, next] = [await change(), await change()];
  await holders[Symbol.asyncDispose]();
  printTable(
    `(v) suspending a user under load, ${HOLDERS} holders of leases of ${LEASE_SECONDS} s, ms`,
    ["", "changes", "p50", "p99"],
    [
      ["all are healthy", healthy.length, quantile(healthy, 0.5), quantile(healthy, 0.99)],
      ["one was just killed", 1, dead, dead],
      ["after that", 1, next, next],
    ],
  );
  const perChange = (count: "hits" | "calls") =>
    (after[count] - before[count]) / waits.length / (HOLDERS - 2);
  printTable(
    `(v) authentications of ${TOKENS} tokens at one holder between two changes`,
    ["from memory", "by access"],
    [[perChange("hits"), perChange("calls")]],
  );
  return [
    atMost("(v) suspending a user with ten holders, p99", 50, quantile(healthy, 0.99), " ms"),
    atMost("(v) suspending a user with a killed holder", LONGEST_WAIT_MS + 100, dead, " ms"),
  ];
}

/** Returns a function that suspends a user or ends the suspension, and returns how long the request took, in ms. */
async function suspensions(stack: ProcessStack): Promise<() => Promise<number>> {
  const { api } = callerOf(stack, await stack.people.newUser(undefined, { administrator: true }));
  const user = await stack.people.newUser();
  let isSuspended = false;
  return async () => {
    const startedAt = performance.now();
    isSuspended = !isSuspended;
    const action = isSuspended ? "suspend" : "unsuspend";
    const { status } = await api.post(`/admin/users/${user.id}/actions/${action}`);
    if (status !== 200) throw new Error(`${action} returned ${status}`);
    return performance.now() - startedAt;
  };
}

/** Simulates the holders other than the gateway and state: they authenticate continuously, and serve no requests. */
async function startHolders(stack: ProcessStack) {
  await using starting = new AsyncDisposableStack();
  const key = JSON.parse(stack.environments.gateway.ASSERTION_PRIVATE_KEY ?? "null");
  const identity = await createIdentity("gateway", key);
  const { access } = stack.channelsOf("gateway");
  const client = createClient(AuthenticationService, access, identity);
  const logger = createLogger({ service: "bench", level: "silent" });
  const tokens: string[] = [];
  for (let count = 0; count < TOKENS; count++) tokens.push((await stack.people.newUser()).token);
  let requests = 0;
  let calls = 0;
  let isStopped = false;

  const authenticate = async (lease: AuthenticationLease): Promise<void> => {
    for (let count = 0; !isStopped; count++) {
      const token = tokens[count % TOKENS] ?? "";
      requests++;
      await lease.byToken(token, async () => {
        calls++;
        return (await client.authenticate({ token, withExpiry: true })).principal;
      });
      await sleep(HOLDER_PAUSE_MS);
    }
  };

  const running: Promise<void>[] = [];
  for (let count = 2; count < HOLDERS; count++) {
    const lease = createAuthenticationLease({ access, identity, leaseMs: LEASE_SECONDS * 1000 });
    starting.use(lease.hold(logger));
    running.push(authenticate(lease));
  }
  const started = starting.move();
  return {
    counts: () => ({ hits: requests - calls, calls }),
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await Promise.all(running);
      await started.disposeAsync();
    },
  };
}
