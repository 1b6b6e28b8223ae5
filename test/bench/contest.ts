import type { Generator } from "./load/load.ts";
import type { LoadPlan, LoadResult } from "./load/plan.ts";
import { type Counted, cpuMicros } from "./processes.ts";
import { median, quantile, sorted } from "./statistics.ts";
import { print } from "./table.ts";

/** One of the implementations that are compared. */
export interface Contender {
  name: string;
  plan: Omit<LoadPlan, "seconds">;
  /** The processes whose CPU time is counted. */
  processes: readonly Counted[];
  /** Number of requests in one operation; default 1. */
  requestsEach?: number;
}

export interface Measured {
  name: string;
  /** Operations per second: the median over the rounds. */
  perSecond: number;
  /** Median latency of a request, in ms. */
  p50: number;
  /** 99th percentile of the latency of a request, in ms. */
  p99: number;
  /** Mean size of a response in bytes. */
  bytes: number;
  /** Operations per second, divided by the operations per second of the first contender: the median over the rounds. */
  ratio: number;
  /** CPU time of one operation in µs, keyed by process; the load generator is one of them. */
  cpu: ReadonlyMap<string, number>;
}

interface Round {
  result: LoadResult;
  perSecond: number;
  cpu: ReadonlyMap<string, number>;
}

/** How long each contender is measured: seconds of its warm-up and of a round, and the number of rounds. */
export interface Pace {
  warmUp: number;
  round: number;
  rounds: number;
}

/**
 * Measures the contenders alternately in rounds, so that a disturbance of the machine affects all of them. Throws if a
 * response is unexpected.
 */
export async function contest(
  generator: Generator,
  contenders: readonly Contender[],
  pace: Pace,
): Promise<Measured[]> {
  for (const contender of contenders) {
    const { result } = await round(generator, contender, pace.warmUp);
    // The warm-up opens connections and compiles code. Its results are not used, and its failures are only printed.
    if (result.failures > 0) print(`    warm-up of ${contender.name}: ${failuresOf(result)}`);
  }
  const measured = contenders.map(() => [] as Round[]);
  for (let turn = 0; turn < pace.rounds; turn++) {
    for (const [index, contender] of contenders.entries()) {
      const measuredRound = await round(generator, contender, pace.round);
      const { result } = measuredRound;
      if (result.failures > 0) throw new Error(`${contender.name}: ${failuresOf(result)}`);
      measured[index]?.push(measuredRound);
    }
  }
  return contenders.map((contender, index) =>
    summary(contender, measured[index] ?? [], measured[0] ?? []),
  );
}

const failuresOf = ({ failures, firstFailure }: LoadResult): string =>
  `${failures} requests failed, first ${firstFailure}`;

async function round(
  generator: Generator,
  { plan, processes, requestsEach = 1 }: Contender,
  seconds: number,
): Promise<Round> {
  const before = cpuMicros(processes);
  const result = await generator.ask({ ...plan, seconds });
  const after = cpuMicros(processes);
  const operations = result.latencies.length / requestsEach;
  const cpu = new Map(
    [...after].map(([process, used]) => [process, used - (before.get(process) ?? 0)]),
  );
  cpu.set("generator", result.cpuMicros);
  return { result, perSecond: operations / result.seconds, cpu };
}

function summary(
  contender: Contender,
  rounds: readonly Round[],
  measure: readonly Round[],
): Measured {
  const latencies = sorted(rounds.map(({ result }) => result.latencies));
  const operations = latencies.length / (contender.requestsEach ?? 1);
  const cpu = new Map<string, number>();
  for (const { cpu: used } of rounds) {
    for (const [process, micros] of used) {
      cpu.set(process, (cpu.get(process) ?? 0) + micros / operations);
    }
  }
  return {
    name: contender.name,
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    bytes: median(rounds.map(({ result }) => result.bytes)),
    ratio: median(rounds.map(({ perSecond }, turn) => perSecond / (measure[turn]?.perSecond ?? 1))),
    cpu,
  };
}
