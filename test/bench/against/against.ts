import path from "node:path";
import autocannon from "autocannon";
import { startNpm } from "../npm-start.ts";
import type { Options } from "../options.ts";
import { median } from "../statistics.ts";
import { type Cell, print, printTable } from "../table.ts";
import { type Comparison, comparisons, type Step } from "./requests.ts";
import { type Address, fill, type Server } from "./server.ts";

/** Another server with the same HTTP API, with which `npm start` is compared. */
export type Other = Omit<Address, "name">;

interface Round {
  perSecond: number;
  p99: number;
}

/**
 * Number of times that the sequence of requests runs on each connection before the measured rounds. The result shows
 * how many repetitions take about a second.
 */
const WARM_UP = 5;
const TIMEOUT_SECONDS = 60;

/** What one comparison has measured on both servers. */
export interface Compared {
  name: string;
  own: readonly Round[];
  others: readonly Round[];
  /** Operations per second of the first server divided by those of the second, for each pair of rounds. */
  ratios: readonly number[];
}

/**
 * Compares `npm start` of this checkout with another server: sends the same requests to both in alternating rounds,
 * with data that it creates through the API. Prints operations per second and their ratio. Throws if a response is
 * unexpected.
 */
export async function compareWith(other: Other, options: Options): Promise<void> {
  await using start = await startNpm(path.resolve(import.meta.dirname, "../../.."));
  const addresses = [
    { name: "this checkout", ...start },
    { name: "the other", ...other },
  ] as const;
  printCompared(
    `this checkout and ${other.url}`,
    await compare(addresses, comparisons, options),
    options,
  );
}

/** Runs each comparison on both servers in alternating rounds. Throws if a response is unexpected. */
export async function compare(
  addresses: readonly [Address, Address],
  wanted: readonly Comparison[],
  {
    clients: connections,
    workspaces,
    seconds,
  }: Pick<Options, "clients" | "workspaces" | "seconds">,
): Promise<Compared[]> {
  const servers: Server[] = [];
  for (const address of addresses) {
    print(`${address.name}: creating ${workspaces} workspaces at ${address.url}`);
    servers.push(await fill(address, { workspaces, connections }));
  }
  const compared: Compared[] = [];
  for (const comparison of wanted) {
    const measured = await alternate(servers, comparison, seconds);
    if (!measured) {
      print(`${comparison.name}: left out, because another host serves it`);
      continue;
    }
    const [own = [], others = []] = measured;
    const ratios = own.map(({ perSecond }, turn) => perSecond / (others[turn]?.perSecond ?? 1));
    compared.push({ name: comparison.name, own, others, ratios });
  }
  return compared;
}

/** Prints operations per second of both servers, their ratio, and the 99th percentile of the latency of requests. */
export function printCompared(
  title: string,
  compared: readonly Compared[],
  { clients, workspaces, seconds }: Pick<Options, "clients" | "workspaces" | "seconds">,
): void {
  const rate = (rounds: readonly Round[]) => median(rounds.map(({ perSecond }) => perSecond));
  const p99 = (rounds: readonly Round[]) => median(rounds.map((round) => round.p99));
  const rows = compared.map(({ name, own, others, ratios }): Cell[] => [
    ...[name, rate(own), rate(others), median(ratios), Math.min(...ratios), Math.max(...ratios)],
    ...[p99(own), p99(others)],
  ]);
  const head = ["", "this, per s", "other, per s", "ratio", "lowest", "highest"];
  printTable(
    `${title}, ${clients} connections, ${workspaces} workspaces, median of ${seconds} rounds`,
    [...head, "this p99, ms", "other p99, ms"],
    rows,
  );
}

/**
 * Measures rounds of about a second on each server in turn. Returns undefined if a server cannot answer the
 * requests of the comparison.
 */
async function alternate(
  servers: readonly Server[],
  comparison: Comparison,
  rounds: number,
): Promise<Round[][] | undefined> {
  const repetitions: number[] = [];
  for (const server of servers) {
    const warmUp = await round(server, comparison, WARM_UP);
    if (!warmUp) return undefined;
    repetitions.push(Math.max(WARM_UP, Math.round(warmUp.perSecond / server.own.length)));
  }
  const measured: Round[][] = servers.map(() => []);
  for (let turn = 0; turn < rounds; turn++) {
    for (const [index, server] of servers.entries()) {
      const measuredRound = await round(server, comparison, repetitions[index] ?? WARM_UP);
      if (measuredRound) measured[index]?.push(measuredRound);
    }
  }
  return measured;
}

/**
 * Sends the sequence of requests `repetitions` times on each connection. A round is not limited by time, so it never
 * ends between lock and unlock. Returns undefined if the server cannot answer the requests.
 */
async function round(
  server: Server,
  { name, steps }: Comparison,
  repetitions: number,
): Promise<Round | undefined> {
  const sequences = server.own.map((own) => steps(server, own));
  const [sequence] = sequences;
  if (!sequence) return undefined;
  const failures: string[] = [];
  const requestOf = ({ method, path: target, expect, body }: Step): autocannon.Request => ({
    method,
    path: target,
    headers: {
      authorization: `Bearer ${server.token}`,
      ...(body && { "content-type": "application/vnd.api+json" }),
    },
    ...(body && { setupRequest: (request) => ({ ...request, body: JSON.stringify(body()) }) }),
    onResponse(status, text) {
      if (status !== expect) failures.push(`${method} ${target}: ${status} ${text.slice(0, 300)}`);
    },
  });
  let connection = 0;
  const startedAt = performance.now();
  let endedAt = startedAt;
  const instance = autocannon({
    url: server.url,
    connections: server.own.length,
    amount: server.own.length * sequence.length * repetitions,
    timeout: TIMEOUT_SECONDS,
    bailout: 1,
    // Milliseconds between two samples. Autocannon ends at the first sample after the last response, so samples are
    // frequent.
    sampleInt: 20,
    setupClient(client) {
      client.on("response", () => {
        endedAt = performance.now();
      });
      client.setRequests((sequences[connection++] ?? []).map((step) => requestOf(step)));
    },
  });
  const { errors, latency, requests } = await instance;
  if (failures.length > 0 || errors > 0) {
    throw new Error(`${server.name}, ${name}: ${failures[0] ?? `${errors} connections failed`}`);
  }
  const operations = requests.total / sequence.length;
  return { perSecond: (operations * 1000) / (endedAt - startedAt), p99: latency.p99 };
}
