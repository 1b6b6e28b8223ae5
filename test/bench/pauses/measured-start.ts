import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { temporaryFolder } from "@statehouse/testing";
import { type RunningStart, startNpm } from "../npm-start.ts";
import { residentBytes } from "../processes.ts";

/** The longest pauses of an event loop since the last reading, in ms. */
export interface Pauses {
  /** CPU time of the main thread between two ticks. Other processes of the machine do not affect it. */
  cpuMs: number;
  /** Elapsed time by which a tick was late, including the time in which the machine ran other processes. */
  wallMs: number;
}

/** `npm start` of a checkout, whose event loop and memory are measured. */
export interface MeasuredStart extends RunningStart {
  /** Runs `work`; returns the longest pauses and the highest resident memory during that time. */
  measure(work: () => Promise<void>): Promise<Pauses & { peakBytes: number }>;
}

/**
 * The measurement of pauses continues for this time after the work, in ms, because some processing continues after the
 * last response.
 */
const AFTERWARDS_MS = 300;

/** Starts `npm start` of the checkout in `folder` on a data folder of its own. */
export async function startMeasured(folder: string): Promise<MeasuredStart> {
  await using starting = new AsyncDisposableStack();
  const meters = starting.use(await temporaryFolder()).path;
  const start = starting.use(
    await startNpm(folder, {
      PAUSE_METER: meters,
      NODE_OPTIONS: `--import=${new URL("meter.mjs", import.meta.url)}`,
    }),
  );
  const pid = largestOf(readdirSync(meters).map(Number));
  // In some checkouts, npm ends at SIGTERM but the processes that it has started continue to run.
  starting.defer(() => end(pid));
  const read = () => pausesOf(path.join(meters, String(pid)));
  const started = starting.move();
  return {
    ...start,
    async measure(work) {
      forgetPeak(pid);
      await read();
      await work();
      await new Promise((resolve) => setTimeout(resolve, AFTERWARDS_MS));
      return { ...(await read()), peakBytes: peakOf(pid) };
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** Ends a process that may have ended already. */
function end(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/**
 * Returns the id of the process that uses the most memory: the process of the services. The other measured processes
 * are npm and the script that starts Node.
 */
const largestOf = (pids: readonly number[]): number =>
  pids.toSorted((one, other) => (residentBytes(other) ?? 0) - (residentBytes(one) ?? 0))[0] ?? 0;

const pausesOf = (socket: string): Promise<Pauses> =>
  new Promise((resolve, reject) => {
    let text = "";
    connect(socket)
      .on("data", (chunk: Buffer) => {
        text += chunk;
      })
      .on("end", () => resolve(JSON.parse(text)))
      .on("error", reject);
  });

/** Resets the highest resident memory that Linux records for the process. */
const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, "5");

const peakOf = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
