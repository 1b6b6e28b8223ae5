import type { StartedDependencies } from "@statehouse/testing";
import type { StackOptions } from "../stack/stack.ts";
import { startProcesses, startStack } from "../stack/stack.ts";
import type { Aim } from "./aim.ts";
import { type Contender, contest, type Measured, type Pace } from "./contest.ts";
import { type BenchFixture, openFixture } from "./fixture.ts";
import { type Generator, startGenerator } from "./load/load.ts";
import type { PlannedRequest } from "./load/plan.ts";
import type { Options } from "./options.ts";
import type { Counted } from "./processes.ts";

/** What every section of the bench uses. */
export interface Ground {
  options: Options;
  generator: Generator;
  postgres: Counted;
  contest(contenders: readonly Contender[], pace?: Partial<Pace>): Promise<Measured[]>;
}

/** What the sections that measure single requests use in addition to `Ground`. */
export interface Bench extends Ground {
  /** A stack with the four services in this process, as in standalone. */
  one: BenchFixture;
  /** A stack with the four services as separate processes. */
  four: BenchFixture;
  /** The process id of the state service in `four`. */
  statePid: number;
  /** The bucket in which the state service in `four` stores state bytes. */
  stateBucket: string;
}

/** Measures one section and prints its results; returns its targets. */
export type Section<On extends Ground = Bench> = (on: On) => Promise<Aim[]>;

const WARM_UP_SECONDS = 3;
const ROUND_SECONDS = 1;

/** Starts the load generator, but no services. */
export function startGround(
  options: Options,
  { postgres: { pid } }: StartedDependencies,
): Ground & AsyncDisposable {
  const generator = startGenerator();
  const pace = { warmUp: WARM_UP_SECONDS, round: ROUND_SECONDS, rounds: options.seconds };
  return {
    options,
    generator,
    postgres: { name: "PostgreSQL", pid, withChildren: true },
    contest: (contenders, own) => contest(generator, contenders, { ...pace, ...own }),
    [Symbol.asyncDispose]: () => generator[Symbol.asyncDispose](),
  };
}

/** Starts the stacks `one` and `four`, which share PostgreSQL, NATS and MinIO. */
export async function startBench(ground: Ground): Promise<Bench & AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const { options, postgres } = ground;
  const settings: StackOptions = {
    blobs: "minio",
    settings: { LOG_LEVEL: "warn", ...profiling(process.env.BENCH_PROFILES) },
  };
  const one = starting.use(await startStack(settings));
  const four = starting.use(await startProcesses(settings));
  starting.defer(async () => {
    // Terminates the processes instead of killing them, so that they can write their profiles.
    if (process.env.BENCH_PROFILES) {
      await Promise.all(Object.values(four.processes).map((service) => service.terminate()));
    }
  });
  const connections = options.clients;
  const bench = {
    ...ground,
    one: await openFixture(one, {
      name: "one process",
      connections,
      processes: [{ name: "statehouse", pid: process.pid }, postgres],
    }),
    four: await openFixture(four, {
      name: "four processes",
      connections,
      processes: [
        ...Object.values(four.processes).map((service) => ({
          name: service.name,
          pid: service.pid(),
        })),
        postgres,
      ],
    }),
    statePid: four.processes.state.pid(),
    stateBucket: four.environments.state.S3_BUCKET ?? "",
  };
  const started = starting.move();
  return Object.assign(bench, { [Symbol.asyncDispose]: () => started.disposeAsync() });
}

/**
 * Returns a `Contender` that measures a stack: each connection has its own user and its own workspace, for which it
 * repeats the requests.
 */
export const contender = (
  fixture: BenchFixture,
  requestsFor: (workspaceId: string) => readonly PlannedRequest[],
): Contender => ({
  name: fixture.name,
  plan: {
    origin: fixture.origin,
    headers: fixture.headers,
    connections: fixture.workspaceIds.map((id, index) =>
      requestsFor(id).map((request) => ({
        ...request,
        headers: fixture.people[index] ?? fixture.headers,
      })),
    ),
  },
  processes: fixture.processes,
  requestsEach: requestsFor("").length,
});

/**
 * With BENCH_PROFILES=<folder>, returns the options with which each of the four processes writes a CPU profile to that
 * folder when it exits.
 */
const profiling = (folder: string | undefined): Record<string, string> =>
  folder ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` } : {};
