import { costOf } from "../../stack/request-cost.ts";
import { type Aim, atMost } from "../aim.ts";
import type { Bench } from "../bench.ts";
import { printTable } from "../table.ts";

/** (f) Counts the SQL statements and the calls between services of a request. */
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
    lockAndUnlock: [
      "lock plus unlock",
      async () => {
        await one.api.post(`${workspace}/actions/lock`);
        await one.api.post(`${workspace}/actions/unlock`);
      },
    ],
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
  ];
}
