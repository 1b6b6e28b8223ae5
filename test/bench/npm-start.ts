import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { childEnvironment, followProcess, temporaryFolder, waitFor } from "@statehouse/testing";
import { type CpuTimes, cpuOfStart, residentBytes } from "./processes.ts";

/** A running `npm start` of a checkout. */
export interface RunningStart extends AsyncDisposable {
  url: string;
  /** The token of the first user. */
  token: string;
  organization: string;
  /** The data folder. */
  data: string;
  /** Returns the CPU time that its processes have used so far. */
  cpu(): CpuTimes;
  /**
   * Returns the statements that requests have waited for since the last call. `stop` ends the counting, which would add
   * to the CPU time of requests.
   */
  meter(command: "read" | "stop"): Promise<Metered>;
}

/** The statements that requests have waited for. */
export interface Metered {
  statements: number;
  roundTrips: number;
  /** The statements of the last request. */
  last: readonly Statement[];
}

/** A statement as the services sent it to PostgreSQL. */
export interface Statement {
  database: string;
  text: string;
  values: (string | null)[];
}

/** The checkout that contains this bench. */
export const thisCheckout = path.resolve(import.meta.dirname, "../..");
/** Time limit of a start, in ms. It is long, because the first start of a checkout can build dependencies. */
const START_MS = 600_000;
const ORGANIZATION = "bench";

/** Runs `npm start` of the checkout in `folder` on a data folder of its own. */
export async function startNpm(folder: string): Promise<RunningStart> {
  await using starting = new AsyncDisposableStack();
  const data = path.join(starting.use(await temporaryFolder()).path, "data");
  const meters = starting.use(await temporaryFolder()).path;
  const child = spawn("npm", ["start"], {
    cwd: folder,
    env: childEnvironment({
      HOME: process.env.HOME ?? "",
      PATH: process.env.PATH ?? "",
      PORT: "0",
      DATA_DIR: data,
      ORGANIZATION,
      METER: meters,
      NODE_OPTIONS: `--import=${new URL("meter.mjs", import.meta.url)}`,
    }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const program = followProcess(child);
  starting.defer(async () => {
    child.kill("SIGTERM");
    await Promise.allSettled([program.exit]);
  });
  const url = await waitFor(() => /running at (http:\/\/\S+)/.exec(program.output())?.[1], {
    timeout: START_MS,
    what: "npm start",
    program,
  });
  const cli = await waitFor(() => readFile(path.join(data, "cli.tfrc"), "utf8"));
  const token = /token = "(.+)"/.exec(cli)?.[1] ?? "";
  const main = largestOf(readdirSync(meters).map(Number));
  // In some checkouts, npm ends at SIGTERM but the processes that it has started continue to run.
  starting.defer(() => end(main));
  const started = starting.move();
  return {
    url,
    token,
    organization: ORGANIZATION,
    data,
    cpu: () => cpuOfStart({ root: child.pid ?? 0, main }),
    async meter(command) {
      const socket = connect(path.join(meters, String(main)));
      socket.write(command);
      return JSON.parse(await text(socket));
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
 * Returns the id of the process that uses the most memory: the process of the services. The other processes are npm and
 * the script that starts Node.
 */
const largestOf = (pids: readonly number[]): number =>
  pids.toSorted((one, other) => residentBytes(other) - residentBytes(one))[0] ?? 0;
