import type { Measured } from "../contest.ts";
import { printTable } from "../table.ts";

/**
 * Prints the results of `contest`. `ratio` is the heading of the column that compares each implementation with the
 * first one.
 */
export function printRates(
  title: string,
  measured: readonly Measured[],
  { ratio, operations = "requests" }: { ratio?: string; operations?: string } = {},
): void {
  printTable(
    title,
    ["", `${operations}/s`, "p50 ms", "p99 ms", "bytes", ...(ratio ? [ratio] : [])],
    measured.map((one) => [
      one.name,
      one.perSecond,
      one.p50,
      one.p99,
      one.bytes,
      ...(ratio ? [one.ratio] : []),
    ]),
  );
}
