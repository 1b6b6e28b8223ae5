import type { Generator } from "./load/load.ts";
import type { LoadPlan } from "./load/plan.ts";
import { profileByLayer } from "./profile.ts";
import { print, printTable } from "./table.ts";

const PROFILE_SECONDS = 3;
/** Layers whose share of the CPU time is smaller than this are combined into one. */
const SMALL = 0.015;

/**
 * Profiles this process, in which the four services run, while the generator sends the requests of `plan`, and prints
 * each layer's share of the CPU time. `micros` is the CPU time of one request.
 */
export async function printLayers(
  generator: Generator,
  plan: Omit<LoadPlan, "seconds">,
  { what, micros = Number.NaN }: { what: string; micros: number | undefined },
): Promise<void> {
  const layers = await profileByLayer(() => generator.ask({ ...plan, seconds: PROFILE_SECONDS }));
  const large = layers.filter(({ share }) => share >= SMALL);
  const rest = 1 - large.reduce((sum, { share }) => sum + share, 0);
  printTable(
    `    CPU time of one process by layer: ${what} (CPU profile, own time of each package)`,
    ["layer", "%", "µs"],
    [...large, { layer: "all others", share: rest }].map(({ layer, share }) => [
      layer,
      share * 100,
      share * micros,
    ]),
  );
  print("    What Node does is counted for the package that called it.");
}
