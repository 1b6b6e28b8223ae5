import { type Aim, atLeast } from "../aim.ts";
import { type BareHandler, startBareHandler } from "../bare/bare.ts";
import { type Bench, contender } from "../bench.ts";
import type { Contender, Measured } from "../contest.ts";
import { printLayers } from "../layers.ts";
import type { Counted } from "../processes.ts";
import { printTable } from "../table.ts";
import { printRates } from "./rates.ts";

const show = (id: string) => [
  { method: "GET", path: `/api/v2/workspaces/${id}`, expect: 200 } as const,
];

/** (a) Measures requests that show a workspace, compared with requests to a bare Koa handler. */
export async function showWorkspace(bench: Bench): Promise<Aim[]> {
  const { one, four, postgres, options } = bench;
  const shown = await one.api.get(`/workspaces/${one.workspaceIds[0]}`);
  const like = { template: shown.body.data, paths: options.clients };
  await using bare = await startBareHandler(like);
  await using prepared = await startBareHandler({ ...like, prepared: true });
  const contenders = [
    bareContender("bare Koa, two SELECTs", bare, postgres),
    bareContender("the same, prepared", prepared, postgres),
    contender(one, show),
    contender(four, show),
  ];
  const measured = await bench.contest(contenders);
  printRates("(a) show workspace, among 10,000", measured, { ratio: "of bare" });
  printCpu(measured);
  await printLayers(bench.generator, contender(one, show).plan, {
    what: "show workspace",
    micros: measured[2]?.cpu.get("statehouse"),
  });
  return [
    atLeast("(a) show workspace in one process, of the bare handler", 0.4, measured[2]?.ratio ?? 0),
    atLeast(
      "(a) show workspace as four processes, of the bare handler",
      0.2,
      measured[3]?.ratio ?? 0,
    ),
  ];
}

const bareContender = (name: string, bare: BareHandler, postgres: Counted): Contender => ({
  name,
  plan: {
    origin: bare.origin,
    headers: bare.headers,
    connections: bare.paths.map((path) => [{ method: "GET", path, expect: 200 } as const]),
  },
  processes: [{ name: "handler", pid: bare.pid }, postgres],
});

function printCpu(measured: readonly Measured[]): void {
  const rows = measured.flatMap(({ name, cpu }) =>
    [...cpu].map(([process, micros], index) => [index === 0 ? name : "", process, micros]),
  );
  printTable("    CPU time of one request, µs, by process", ["", "process", "µs"], rows);
}
