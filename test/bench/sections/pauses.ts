import path from "node:path";
import { type Aim, atMost } from "../aim.ts";
import type { Ground } from "../bench.ts";
import { type MeasuredStart, startMeasured } from "../pauses/measured-start.ts";
import { type Probe, probes } from "../pauses/probes.ts";
import { median } from "../statistics.ts";
import { type Cell, print, printTable } from "../table.ts";

const AIM_MS = 50;
const ROUNDS = 3;
/** How many times each probe runs on the other checkout. A checkout without limits needs minutes for some probes. */
const OTHER_ROUNDS = 1;
const MIB = 1024 * 1024;

interface Result {
  cpuMs: number;
  wallMs: number;
  peakBytes: number;
}

/**
 * (q) Measures the longest pause of the event loop of `npm start`, and its memory, under hostile requests. If another
 * checkout is given, measures its `npm start` in the same way.
 */
export async function pauses({ options }: Ground): Promise<Aim[]> {
  const here = path.resolve(import.meta.dirname, "../../..");
  const columns: Result[][] = [];
  for (const folder of [here, ...(options.checkout ? [options.checkout] : [])]) {
    columns.push(await resultsOf(folder, folder === here ? ROUNDS : OTHER_ROUNDS));
  }
  const [own = [], other] = columns;
  const head = ["longest pause, ms of CPU", "ms passed", "MiB at peak"];
  printTable(
    "(q) the longest pause of npm start under hostile requests, and its memory",
    ["", ...head, ...(other ? head.map((text) => `${text} (other)`) : [])],
    probes.map(({ name }, index) => [
      name,
      ...cells(own[index]),
      ...(other ? cells(other[index]) : []),
    ]),
  );
  print(
    "The pauses are the CPU time of the main thread between two ticks of 5 ms: other programs do not lengthen them.",
  );
  const worst = Math.max(...own.map(({ cpuMs }) => cpuMs));
  return [atMost("(q) longest pause under any probe, ms of CPU", AIM_MS, worst)];
}

const cells = (result: Result | undefined): Cell[] => [
  result?.cpuMs ?? Number.NaN,
  result?.wallMs ?? Number.NaN,
  (result?.peakBytes ?? Number.NaN) / MIB,
];

async function resultsOf(folder: string, rounds: number): Promise<Result[]> {
  await using start = await startMeasured(folder);
  const results: Result[] = [];
  for (const probe of probes) {
    const result = await repeated(start, probe, rounds);
    // Prints a line after each probe, because some probes take minutes on a busy machine.
    print(
      `${probe.name}: ${cells(result)
        .map((cell) => Math.round(Number(cell)))
        .join(", ")}`,
    );
    results.push(result);
  }
  return results;
}

/** Runs a probe several times; returns the median of its longest pauses, and its highest memory. */
async function repeated(start: MeasuredStart, { prepare }: Probe, rounds: number): Promise<Result> {
  const measured: Result[] = [];
  for (let round = 0; round < rounds; round++) {
    measured.push(await start.measure(await prepare(start)));
  }
  return {
    cpuMs: median(measured.map(({ cpuMs }) => cpuMs)),
    wallMs: median(measured.map(({ wallMs }) => wallMs)),
    peakBytes: Math.max(...measured.map(({ peakBytes }) => peakBytes)),
  };
}
