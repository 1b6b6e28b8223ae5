import { document } from "../../stack/http.ts";
import { costOf, type RequestCost, writeCostOf } from "../../stack/request-cost.ts";
import { expectStatus } from "../../stack/state.ts";
import { type Aim, atMost } from "../aim.ts";
import type { Bench } from "../bench.ts";
import { printTable } from "../table.ts";

/** (f) Counts what requests do: SQL statements and calls between services, and for writes also transactions and waits. */
export async function requestCost({ one }: Bench): Promise<Aim[]> {
  const [id = ""] = one.workspaceIds;
  const workspace = `/workspaces/${id}`;
  const list = `/organizations/${one.organization}/workspaces`;
  const requests = {
    show: ["show workspace", () => one.api.get(workspace)],
    byName: ["show workspace by name", () => one.api.get(`${list}/own-0`)],
    list: ["list of 20 workspaces", () => one.api.get(`${list}?page%5Bsize%5D=20`)],
    listIncluding: [
      "list of 20 with include=organization,project",
      () => one.api.get(`${list}?page%5Bsize%5D=20&include=organization,project`),
    ],
    current: ["current state version", () => one.api.get(`${workspace}/current-state-version`)],
  } as const satisfies Record<string, readonly [string, () => Promise<unknown>]>;
  const costs = new Map<string, { statements: number; calls: number }>();
  for (const [what, send] of Object.values(requests)) costs.set(what, await costOf(send));
  printTable(
    "(f) SQL statements that a request waits for (BEGIN and COMMIT included) and calls between services",
    ["", "SQL", "calls"],
    [...costs].map(([what, { statements, calls }]) => [what, statements, calls]),
  );
  const statementsOf = (what: string) => costs.get(what)?.statements ?? Number.NaN;
  return [
    atMost("(f) SQL statements of show workspace", 2, statementsOf(requests.show[0])),
    atMost("(f) SQL statements of a list of 20", 4, statementsOf(requests.list[0])),
    ...(await writeCosts(one)),
  ];
}

async function writeCosts({ api, organization, workspaceIds }: Bench["one"]): Promise<Aim[]> {
  const [id = ""] = workspaceIds;
  const act = (action: string) =>
    expectStatus(200, api.post(`/workspaces/${id}/actions/${action}`));
  const lock = await writeCostOf(async () => {
    await act("lock");
    await act("unlock");
  });
  const create = await writeCostOf(() => {
    const body = document("workspaces", { name: `counted-${crypto.randomUUID()}` });
    return expectStatus(201, api.post(`/organizations/${organization}/workspaces`, body));
  });
  printTable(
    "(f) what a write does before its response; transactions and statements also without those of authentication",
    ["", "transactions", "SQL", "round trips", "waits for the disk", "socket writes", "calls"],
    [
      ["lock plus unlock", lock] as const,
      ["lock plus unlock, authenticated", authenticated(lock)] as const,
      ["create workspace", create] as const,
      ["create workspace, authenticated", authenticated(create)] as const,
    ].map(([what, { transactions, statements, roundTrips, waits, writes, calls }]) => [
      ...[what, transactions, statements, roundTrips, waits, writes, calls],
    ]),
  );
  return [
    atMost("(f) transactions of lock + unlock", 4, authenticated(lock).transactions),
    atMost("(f) waits for the disk of lock + unlock", 3, lock.waits),
    atMost("(f) transactions of create workspace", 1, authenticated(create).transactions),
    atMost("(f) SQL statements of create workspace", 4, authenticated(create).statements),
  ];
}

/**
 * Returns the cost of a request without the cost of authentication. Each authentication is one call to the access
 * service and one statement in its database.
 */
function authenticated(cost: RequestCost): RequestCost {
  const { statements, transactions, roundTrips } = cost.services.access ?? none;
  return {
    ...cost,
    statements: cost.statements - statements,
    transactions: cost.transactions - transactions,
    roundTrips: cost.roundTrips - roundTrips,
    writes: cost.writes - roundTrips,
    calls: cost.calls - transactions,
  };
}

const none = { statements: 0, transactions: 0, roundTrips: 0 };
