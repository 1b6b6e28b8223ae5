import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { childEnvironment, followProcess, temporaryFolder, waitFor } from "@statehouse/testing";
import { type Api, api } from "../stack/http.ts";

/** A running `npm start` of a checkout. */
export interface RunningStart extends AsyncDisposable {
  url: string;
  /** A client of the API with the token of the first user. */
  owner: Api;
  /** The token of the first user. */
  token: string;
  organization: string;
  /** The data folder. */
  data: string;
}

/** Time limit of a start, in ms. It is long, because the first start of a checkout can build dependencies. */
const START_MS = 600_000;
const ORGANIZATION = "bench";

/** Runs `npm start` of the checkout in `folder` on a data folder of its own, with `settings` in its environment. */
export async function startNpm(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningStart> {
  await using starting = new AsyncDisposableStack();
  const data = path.join(starting.use(await temporaryFolder()).path, "data");
  const child = spawn("npm", ["start"], {
    cwd: folder,
    env: childEnvironment({
      HOME: process.env.HOME ?? "",
      PATH: process.env.PATH ?? "",
      PORT: "0",
      DATA_DIR: data,
      ORGANIZATION,
      ...settings,
    }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  starting.defer(() => stop(child));
  const url = await addressOf(child);
  const cli = await waitFor(() => readFile(path.join(data, "cli.tfrc"), "utf8"));
  const token = /token = "(.+)"/.exec(cli)?.[1] ?? "";
  const started = starting.move();
  return {
    url,
    token,
    owner: api(url, token),
    organization: ORGANIZATION,
    data,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** Waits until `npm start` prints that it runs; returns the address that it prints. */
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
