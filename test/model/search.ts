import fc from "fast-check";
import { type Disturb, live } from "./history.ts";
import type { Place } from "./place.ts";
import type { History } from "./step.ts";

/** A failing history is shrunk for this time; then the shortest one so far is reported. */
const SHRINKING_MS = 90_000;

export interface Search {
  place: Place;
  histories: fc.Arbitrary<History>;
  /** Seed of the first history; each further history has the next number. */
  seed: number;
  /** Path of the shrunk history, with which it can be repeated. */
  path?: string | undefined;
  /** Number of concurrent histories, each in a separate workspace. */
  lanes: number;
  /** No history begins after this time, in epoch ms. */
  until: number;
  disturb?: Disturb | undefined;
}

/** Runs histories until the time is over. Throws the shortest one that fails, with its seed and path. */
export async function search(options: Search): Promise<void> {
  const { place, histories, lanes, until, path, disturb } = options;
  const one = (seed: number) => {
    let first = true;
    const property = fc.asyncProperty(histories, (history) =>
      live(place, history, disturb).catch((error: unknown) => {
        if (first) process.stderr.write(`seed ${seed} fails, and is made shorter: ${error}\n`);
        first = false;
        throw error;
      }),
    );
    return fc.assert(property, {
      seed,
      numRuns: 1,
      interruptAfterTimeLimit: SHRINKING_MS,
      ...(path ? { path } : {}),
    });
  };
  let { seed } = options;
  if (path) return one(seed);
  let failed = false;
  const lane = async () => {
    do {
      await one(seed++).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    } while (Date.now() < until && !failed);
  };
  // The other histories end first, because the fixture that they use is about to be closed.
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
