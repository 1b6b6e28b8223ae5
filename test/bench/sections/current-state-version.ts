import type { Aim } from "../aim.ts";
import { type Bench, contender } from "../bench.ts";
import { printRates } from "./rates.ts";

/** (b) Measures requests for the current state version of a workspace. */
export async function currentStateVersion({ one, four, contest }: Bench): Promise<Aim[]> {
  const current = (id: string) => [
    { method: "GET", path: `/api/v2/workspaces/${id}/current-state-version`, expect: 200 } as const,
  ];
  const measured = await contest([contender(one, current), contender(four, current)]);
  printRates("(b) current state version", measured);
  return [];
}
