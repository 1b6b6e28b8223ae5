import autocannon from "autocannon";
import type { CpuTimes } from "./processes.ts";
import { median } from "./statistics.ts";

/** What one connection keeps between the requests of a sequence. */
export interface Kept {
  uploadPath?: string;
}

/** One request of a sequence. */
export interface Step {
  method: "GET" | "POST" | "PUT";
  path: string | ((kept: Kept) => string);
  expect: number;
  /** Makes a body for each request. */
  body?: () => object | Buffer;
  /** Keeps values of the response for the next requests of the sequence. */
  keep?: (response: string, kept: Kept) => void;
}

/** One of the implementations that are compared. */
export interface Candidate {
  name: string;
  /** The addresses of its replicas; the connections are divided among them. */
  urls: readonly string[];
  token: string;
  /** The requests of each connection. */
  sequences: readonly (readonly Step[])[];
  /** Returns the CPU time that the candidate has used so far. */
  cpu?: () => CpuTimes;
}

export interface Round {
  /** Sequences per second. */
  perSecond: number;
  /** Median latency of a request in ms. */
  p50: number;
  /** 99th percentile of the latency of a request in ms. */
  p99: number;
  /** CPU time of one sequence in µs. */
  cpu: CpuTimes;
}

/** Number of times that each connection runs its sequence before the pace is known. */
const FIRST = 5;
const TIMEOUT_SECONDS = 60;

/**
 * Measures the candidates in alternating rounds, so that a disturbance of the machine affects all of them. Two rounds
 * of each open connections, compile code, and show how many repetitions take `seconds`. Throws if a response is
 * unexpected.
 */
export async function alternate(
  candidates: readonly Candidate[],
  { rounds, seconds = 1 }: { rounds: number; seconds?: number },
): Promise<Round[][]> {
  const paces: number[] = [];
  for (const candidate of candidates) {
    const paceOf = ({ perSecond }: Round) =>
      Math.max(1, Math.round((perSecond * seconds) / candidate.sequences.length));
    const first = await roundOf(candidate, FIRST);
    paces.push(paceOf(await roundOf(candidate, paceOf(first))));
  }
  const measured: Round[][] = candidates.map(() => []);
  for (let turn = 0; turn < rounds; turn++) {
    for (const [index, candidate] of candidates.entries()) {
      measured[index]?.push(await roundOf(candidate, paces[index] ?? FIRST));
    }
  }
  return measured;
}

/** Returns the median of one value of the rounds. */
export const medianOf = (
  rounds: readonly Round[],
  what: Exclude<keyof Round, "cpu"> | ((round: Round) => number),
): number => median(rounds.map((round) => (typeof what === "string" ? round[what] : what(round))));

/** Returns a value of one candidate's rounds, divided by that of another's, for each pair of consecutive rounds. */
export const ratiosOf = (
  rounds: readonly Round[],
  others: readonly Round[],
  of: (round: Round) => number = ({ perSecond }) => perSecond,
): number[] =>
  rounds.map((round, turn) => {
    const other = others[turn];
    return other ? of(round) / of(other) : Number.NaN;
  });

/** Returns the sum of the CPU times of a round, in µs. */
export const cpuOf = ({ cpu }: Round): number =>
  [...cpu.values()].reduce((total, part) => total + part, 0);

/**
 * Sends the sequence of each connection `repetitions` times. A round is not limited by time, so that it never ends
 * between lock and unlock.
 */
export async function roundOf(candidate: Candidate, repetitions: number): Promise<Round> {
  const { urls, sequences, cpu = () => new Map() } = candidate;
  const before = cpu();
  const startedAt = performance.now();
  const replicas = await Promise.all(
    urls.map((url, index) =>
      send(candidate, repetitions, {
        url,
        sequences: sequences.filter((_, connection) => connection % urls.length === index),
      }),
    ),
  );
  const after = cpu();
  const count = sequences.length * repetitions;
  const endedAt = Math.max(...replicas.map((replica) => replica.endedAt));
  return {
    perSecond: (count * 1000) / (endedAt - startedAt),
    p50: median(replicas.map(({ p50 }) => p50)),
    p99: Math.max(...replicas.map(({ p99 }) => p99)),
    cpu: new Map(
      [...after].map(([part, used]) => [part, (used - (before.get(part) ?? 0)) / count]),
    ),
  };
}

async function send(
  { name, token }: Candidate,
  repetitions: number,
  { url, sequences }: { url: string; sequences: Candidate["sequences"] },
): Promise<{ endedAt: number; p50: number; p99: number }> {
  const failures: string[] = [];
  const requestOf = ({ method, path, expect, body, keep }: Step): autocannon.Request => ({
    method,
    headers: {
      // The path of an upload URL is its credential.
      ...(method !== "PUT" && { authorization: `Bearer ${token}` }),
      ...(body && { "content-type": "application/vnd.api+json" }),
    },
    ...(typeof path === "string" && { path }),
    ...((body || typeof path !== "string") && {
      setupRequest: (request, kept) => {
        const made = body?.() ?? "";
        return {
          ...request,
          path: typeof path === "string" ? path : path(kept),
          body: Buffer.isBuffer(made) ? made : JSON.stringify(made),
        };
      },
    }),
    onResponse(status, text, kept) {
      if (status !== expect) failures.push(`${method}: ${status} ${text.slice(0, 300)}`);
      else keep?.(text, kept);
    },
  });
  let connection = 0;
  let endedAt = performance.now();
  const requests = sequences.reduce((sum, { length }) => sum + length, 0);
  const { errors, latency } = await autocannon({
    url,
    connections: sequences.length,
    amount: requests * repetitions,
    timeout: TIMEOUT_SECONDS,
    bailout: 1,
    // Milliseconds between two samples. Autocannon ends at the first sample after the last response, so samples are
    // frequent.
    sampleInt: 20,
    setupClient(client) {
      client.on("response", () => {
        endedAt = performance.now();
      });
      client.setRequests((sequences[connection++] ?? []).map(requestOf));
    },
  });
  if (failures.length > 0 || errors > 0) {
    throw new Error(`${name}: ${failures[0] ?? `${errors} connections failed`}`);
  }
  return { endedAt, p50: latency.p50, p99: latency.p99 };
}
