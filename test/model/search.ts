import fc from "fast-check";
import type { Environment } from "./environment.ts";
import { type Disturb, live } from "./history.ts";
import type { History } from "./step.ts";

/** How long a failing history is shrunk, in ms; then the shortest failing history so far is reported. */
const SHRINKING_MS = 90_000;

export interface Search {
  environment: Environment;
  histories: fc.Arbitrary<History>;
  /** Seed of the first history; the seed of each further history is one higher. */
  seed: number;
  /** Path of a shrunk history in fast-check, to repeat that history. */
  path?: string | undefined;
  /** Number of histories that run concurrently, each in its own workspace. */
  lanes: number;
  /** The time after which no history is started, in epoch ms. */
  until: number;
  disturb?: Disturb | undefined;
}

/**
 * Runs histories until the time is over; with `path`, runs only the history of that path. If a history fails, throws an
 * error with the shortest failing history, its seed and its path.
 */
export async function search(options: Search): Promise<void> {
  const { environment, histories, lanes, until, path, disturb } = options;
  const one = (seed: number) => {
    let first = true;
    const property = fc.asyncProperty(histories, (history) =>
      live(environment, history, disturb).catch((error: unknown) => {
        if (first) process.stderr.write(`seed ${seed} fails; shrinking its history: ${error}\n`);
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
  // Waits for the other histories, because the fixture that they use is closed afterwards.
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
