import { withStars } from "@statehouse/workspaces/parameters-store";
import { expect, test } from "vitest";

/** Returns the lowest CPU time of several runs, in µs. Each run calls `withStars` for a text with this many stars. */
function cost(stars: number): number {
  const text = `x${"*".repeat(stars)}y`;
  const runs = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    for (let run = 0; run < 20; run++) withStars(text);
    return process.cpuUsage(before).user + 1;
  });
  return Math.min(...runs);
}

test("the cost of a wildcard name grows with its length, not with the square", () => {
  cost(1000);
  // If the cost is linear, the ratio is 16; if it is quadratic, 256.
  expect(cost(16_000) / cost(1000)).toBeLessThan(64);
});
