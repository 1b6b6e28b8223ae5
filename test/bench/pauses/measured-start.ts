import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { childEnvironment, followProcess, temporaryFolder, waitFor } from "@statehouse/testing";
import { type Api, api } from "../../stack/http.ts";
import { residentBytes } from "../processes.ts";

/** The longest pauses of an event loop since the last reading, in ms. */
export interface Pauses {
  /** CPU time of the main thread between two ticks. Other processes of the machine do not affect it. */
  cpuMs: number;
  /** Elapsed time between two ticks, including the time in which the machine ran other processes. */
  wallMs: number;
}

/** `npm start` of a checkout, whose event loop and memory are measured. */
export interface MeasuredStart extends AsyncDisposable {
  url: string;
  /** A client of the first user, and the user's token. */
  owner: Api;
  token: string;
  organization: string;
  /** Runs `work`; returns the longest pauses and the highest resident memory during that time. */
  measure(work: () => Promise<void>): Promise<Pauses & { peakBytes: number }>;
}

const START_MS = 180_000;
/**
 * How long pauses are still measured after the work, in ms, because some processing continues after the last response.
 */
const AFTERWARDS_MS = 300;

/** Starts `npm start` of the checkout in `folder` on a data folder of its own. */
export async function startMeasured(folder: string): Promise<MeasuredStart> {
  await using starting = new AsyncDisposableStack();
  const data = starting.use(await temporaryFolder()).path;
  const meters = path.join(data, "meters");
  const child = spawn("npm", ["start"], {
    cwd: folder,
    env: childEnvironment({
      ...{ HOME: process.env.HOME ?? "", PATH: process.env.PATH ?? "", PORT: "0" },
      ...{ DATA_DIR: path.join(data, "data"), ORGANIZATION: "probed", PAUSE_METER: meters },
      NODE_OPTIONS: `--import=${new URL("meter.mjs", import.meta.url)}`,
    }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  starting.defer(() => stop(child));
  const url = await addressOf(child);
  const cli = await waitFor(() => readFile(path.join(data, "data", "cli.tfrc"), "utf8"));
  const token = /token = "(.+)"/.exec(cli)?.[1] ?? "";
  const pid = largestOf(readdirSync(meters).map(Number));
  const read = () => pausesOf(path.join(meters, String(pid)));
  const started = starting.move();
  return {
    url,
    token,
    owner: api(url, token),
    organization: "probed",
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

/** The address that `npm start` prints when everything runs. */
async function addressOf(child: ChildProcess): Promise<string> {
  const { output } = followProcess(child);
  const found = () => /running at (http:\/\/\S+)/.exec(output())?.[1];
  return await waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(`npm start ended:\n${output()}`);
      return found();
    },
    { timeout: START_MS, what: "npm start" },
  ).then((url) => String(url));
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await exited;
}

/**
 * Returns the process that uses the most memory. This is the process of the services; npm and the script that starts
 * Node are also measured.
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
