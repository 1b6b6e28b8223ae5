import { spawn } from "node:child_process";
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
