import fc from "fast-check";
import { type Disturb, live } from "./history.ts";
import type { Place } from "./place.ts";
import type { History } from "./step.ts";

/** A failure is shrunk for this long; then the shortest so far is reported. */
const SHRINKING_MS = 90_000;

export interface Search {
  place: Place;
  histories: fc.Arbitrary<History>;
  /** Seed of the first history; the next ones count from it. */
  seed: number;
  /** Path of the shrunk history, to repeat it. */
  path?: string | undefined;
  /** Concurrent histories, each in a separate workspace. */
  lanes: number;
  /** No history begins after it, as epoch ms. */
  until: number;
  disturb?: Disturb | undefined;
}

/** Runs histories until the time is over. Throws the shortest that fails, with its seed and path. */
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
  // The others end first, because the fixture they use is about to be closed.
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
