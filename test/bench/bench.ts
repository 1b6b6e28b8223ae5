import type { StartedParts } from "@statehouse/testing";
import type { StackOptions } from "../stack/stack.ts";
import { startProcesses, startStack } from "../stack/stack.ts";
import type { Aim } from "./aim.ts";
import { type Contender, contest, type Measured } from "./contest.ts";
import { type Generator, startGenerator } from "./load/load.ts";
import type { PlannedRequest } from "./load/plan.ts";
import type { Options } from "./options.ts";
import type { Counted } from "./processes.ts";
import { openSite, type Site } from "./site.ts";

/** What a section measures with. */
export interface Bench {
  options: Options;
  generator: Generator;
  /** The four services in this process, as standalone runs them. */
  one: Site;
  /** The four services as processes of their own. */
  four: Site;
  /** Process id of state among the four, and where it keeps its bytes. */
  statePid: number;
  stateBucket: string;
  postgres: Counted;
  contest(contenders: readonly Contender[]): Promise<Measured[]>;
}

/** Measures and prints; answers with what it was to reach. */
export type Section = (bench: Bench) => Promise<Aim[]>;

/** Starts both stacks on the same parts. */
export async function startBench(
  options: Options,
  { postgres: { pid } }: StartedParts,
): Promise<Bench & AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const postgres = { name: "PostgreSQL", pid, withChildren: true };
  const generator = starting.use(startGenerator());
  const settings: StackOptions = {
    blobs: "minio",
    settings: { LOG_LEVEL: "warn", ...profiling(process.env.BENCH_PROFILES) },
  };
  const one = starting.use(await startStack(settings));
  const four = starting.use(await startProcesses(settings));
  starting.defer(async () => {
    // Not killed, so that they can write their profiles.
    if (process.env.BENCH_PROFILES) {
      await Promise.all(Object.values(four.processes).map((service) => service.terminate()));
    }
  });
  const connections = options.clients;
  const bench = {
    options,
    generator,
    one: await openSite(one, {
      name: "one process",
      connections,
      processes: [{ name: "statehouse", pid: process.pid }, postgres],
    }),
    four: await openSite(four, {
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
    postgres,
    contest: (contenders: readonly Contender[]) => contest(generator, contenders, options.seconds),
  };
  const started = starting.move();
  return Object.assign(bench, { [Symbol.asyncDispose]: () => started.disposeAsync() });
}

/** A site as a contender in which each connection repeats the requests for its workspace. */
export const contender = (
  site: Site,
  requestsFor: (workspaceId: string) => readonly PlannedRequest[],
): Contender => ({
  name: site.name,
  plan: {
    origin: site.origin,
    headers: site.headers,
    connections: site.workspaceIds.map(requestsFor),
  },
  processes: site.processes,
  requestsEach: requestsFor("").length,
});

/** With BENCH_PROFILES=<folder> each of the four writes a CPU profile there when it ends. */
const profiling = (folder: string | undefined): Record<string, string> =>
  folder ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` } : {};
