import type { Aim } from "../aim.ts";
import { type Bench, contender } from "../bench.ts";
import { printRates } from "./rates.ts";

/** (e) Measures locking and unlocking; each connection has its own workspace. Commits wait for the disk. */
export async function workspaceLock({ one, four, contest }: Bench): Promise<Aim[]> {
  const lockAndUnlock = (id: string) =>
    ["lock", "unlock"].map((action) => ({
      method: "POST" as const,
      path: `/api/v2/workspaces/${id}/actions/${action}`,
      body: "{}",
      expect: 200,
    }));
  const measured = await contest([contender(one, lockAndUnlock), contender(four, lockAndUnlock)]);
  printRates("(e) lock and unlock (latency of each of the two)", measured, { operations: "pairs" });
  return [];
}
