import fc from "fast-check";
import { type Disturb, live } from "./history.ts";
import type { Place } from "./place.ts";
import type { History } from "./step.ts";

/** What fails is made shorter for so long; then the shortest so far is told. */
const SHRINKING_MS = 90_000;

export interface Search {
  place: Place;
  histories: fc.Arbitrary<History>;
  /** Of the first history; the next ones count on. */
  seed: number;
  /** Of what became of that history when it was made shorter, to have it again. */
  path?: string | undefined;
  /** Histories at the same time, each in a workspace of its own. */
  lanes: number;
  /** No history begins after it, as epoch ms. */
  until: number;
  disturb?: Disturb | undefined;
}

/** Tries histories until the time is over. Throws the shortest that fails, with its seed and path. */
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
  // The others end first: what they use is about to be closed.
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
