import path from "node:path";
import { compare, printCompared } from "../against/against.ts";
import { comparisons } from "../against/requests.ts";
import { type Aim, atLeast } from "../aim.ts";
import type { Ground } from "../bench.ts";
import { startNpm } from "../npm-start.ts";
import { median } from "../statistics.ts";
import { print } from "../table.ts";

/**
 * For each comparison, the lowest permitted ratio of the rate of this checkout to the rate of commit 2dfcb7e9, the last
 * version before the read and write paths were shortened.
 */
const least: Readonly<Record<string, number>> = {
  "list of 20 workspaces": 2,
  "list of 20 with a search": 4,
  "list of 20 state versions": 5,
  "lock and unlock": 4,
  "lock, write 8 KiB, unlock": 5,
  "create a workspace": 3,
};

/** (u) Compares requests of `npm start` with those of another checkout, in alternating rounds. */
export async function earlierRelease({ options }: Ground): Promise<Aim[]> {
  const { checkout } = options;
  if (checkout === undefined) {
    print("(u) is left out: it needs --checkout with a checkout of an earlier release");
    return [];
  }
  await using now = await startNpm(path.resolve(import.meta.dirname, "../../.."));
  await using before = await startNpm(checkout);
  const addresses = [
    { name: "this checkout", ...now },
    { name: "the earlier one", ...before },
  ] as const;
  const wanted = comparisons.filter(({ name }) => name in least);
  const compared = await compare(addresses, wanted, options);
  printCompared("(u) this checkout and the earlier one", compared, options);
  return compared.map(({ name, ratios }) =>
    atLeast(`(u) ${name}, times the earlier release`, least[name] ?? 1, median(ratios)),
  );
}
