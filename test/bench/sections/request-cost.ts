import { document } from "../../stack/http.ts";
import { costOf, type RequestCost, writeCostOf } from "../../stack/request-cost.ts";
import { announcement, expectStatus, inlineState, type StateFile } from "../../stack/state.ts";
import { stateOf } from "../against/server.ts";
import { type Aim, atMost } from "../aim.ts";
import type { Bench } from "../bench.ts";
import { printTable } from "../table.ts";

/**
 * (f) Counts what requests do: SQL statements and calls between services, and for writes also transactions, round
 * trips, waits for the disk, and socket writes.
 */
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
  const path = `/workspaces/${id}/state-versions`;
  const current = await expectStatus(200, api.get(`/workspaces/${id}/current-state-version`));
  let { serial } = current.body.data.attributes;
  const { lineage } = current.body.data.attributes;
  /**
   * Measures lock, write and unlock together. `writeCostOf` does not observe that the write waits for the disk of the
   * store, so this wait is added.
   */
  const stateWriteOf = async (write: (state: StateFile) => Promise<unknown>) => {
    const cost = await writeCostOf(async () => {
      await act("lock");
      await write(stateOf(++serial, lineage));
      await act("unlock");
    });
    return { ...cost, waits: cost.waits + 1 };
  };
  const inline = await stateWriteOf((state) =>
    expectStatus(201, api.post(path, inlineState(state))),
  );
  const uploaded = await stateWriteOf(async (state) => {
    const { body } = await expectStatus(201, api.post(path, announcement(state)));
    const url: string = body.data.attributes["hosted-state-upload-url"];
    const { status } = await fetch(url, { method: "PUT", body: Buffer.from(state.bytes) });
    if (status !== 200) throw new Error(`the upload returned ${status}`);
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
      ["lock, write 8 KiB inline, unlock", inline] as const,
      ["lock, write 8 KiB inline, unlock, authenticated", authenticated(inline)] as const,
      ["lock, write 8 KiB by upload URL, unlock", uploaded] as const,
      ["lock, write 8 KiB by upload URL, unlock, authenticated", authenticated(uploaded)] as const,
      ["create workspace", create] as const,
      ["create workspace, authenticated", authenticated(create)] as const,
    ].map(([what, { transactions, statements, roundTrips, waits, writes, calls }]) => [
      ...[what, transactions, statements, roundTrips, waits, writes, calls],
    ]),
  );
  return [
    atMost("(f) transactions of lock + unlock", 4, authenticated(lock).transactions),
    atMost("(f) waits for the disk of lock + unlock", 3, lock.waits),
    atMost("(f) transactions of lock, write inline, unlock", 9, authenticated(inline).transactions),
    atMost("(f) waits for the disk of lock, write inline, unlock", 6, inline.waits),
    atMost(
      "(f) transactions of lock, write by upload URL, unlock",
      8,
      authenticated(uploaded).transactions,
    ),
    atMost("(f) waits for the disk of lock, write by upload URL, unlock", 6, uploaded.waits),
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
