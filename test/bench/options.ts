import path from "node:path";
import { parseArgs } from "node:util";
import { StartError } from "@statehouse/runtime";

export const sectionNames = [
  "a",
  "b",
  "c",
  "d",
  "e",
  "f",
  "g",
  "h",
  "i",
  "j",
  "k",
  "l",
  "m",
  "n",
  "o",
  "p",
  "q",
  "r",
  "s",
  "t",
  "u",
] as const;
export type SectionName = (typeof sectionNames)[number];

export interface Options {
  only: readonly SectionName[];
  /** Number of rounds for each compared implementation; a round takes one second. */
  seconds: number;
  /** Number of keep-alive connections. */
  clients: number;
  /** Largest state that is uploaded and downloaded, in MiB. */
  largestMebibytes: number;
  /** Numbers of workspaces for which requests are compared, in ascending order. */
  sizes: readonly number[];
  /** Number of state versions of each workspace in section g. */
  each: number;
  /** Number of state versions that retention has to scan in section l. */
  versions: number;
  /** Another checkout. Sections q, r and u measure its `npm start` in addition to that of this checkout. */
  checkout: string | undefined;
  /** Another server with the same HTTP API. If it is given, `npm start` is compared with it, and no section runs. */
  against: { url: string; token: string; organization: string | undefined } | undefined;
  /** Number of workspaces that the comparison with another server creates on each server. */
  workspaces: number;
}

export const usage = `npm run bench -- [--only a,c] [--seconds 8] [--clients 16] [--largest 1024] [--sizes 100,10000,100000] [--each 10] [--versions 1000000] [--checkout FOLDER]
npm run bench -- --against URL --token TOKEN [--organization NAME] [--workspaces 200] [--seconds 8] [--clients 16]
  a show workspace   b current state version   c list of 20 among 10,000 workspaces
  d state bytes      e lock and unlock         f SQL statements and calls of a request
  g reads, lists and writes among 100, 10,000 and 100,000 workspaces, and sizes of their tables
  h many grants, and grants that change while other users read
  i state writes (create, upload, current state version) by 1, 8 and 32 clients, 1 KiB to 1 GiB
  j show workspace during the extraction of 50,000 resources
  k current state version and list among 10, 1,000 and 100,000 versions of a workspace
  l how much retention deletes in a second, of many versions; a tenth of them is due
  m what mutual TLS and NATS credentials cost show, list and state writes of four processes
  n what the organization in the subject of events costs nats-server
  o what requests of ordinary members cost each service: CPU time, memory, connections
  p what the rate limit of a token, an ETag that the client has, and gzip cost
  q longest pause of the event loop and memory of npm start under hostile requests
  r what the audit trail costs show, lock and state downloads of npm start; needs --checkout
  s how late events arrive at 1,000 a second, and what limits the relay; for ten minutes: --seconds 600
  t show, current state version, outputs and download of 8 KiB, above the floor of node:http and pg
  u requests of npm start, compared with those of an earlier release; needs --checkout
  --seconds  measured rounds, of a second, for each contender   --largest  MiB of the largest state in d and i
  --sizes    numbers of workspaces in g; h uses the largest
             a million workspaces with ten versions each need 15 GB in g: --sizes 100,10000,1000000
  --each     number of state versions of each workspace in g
  --versions number of state versions in l
  --checkout another checkout of Statehouse, which q, r and u measure, too
  --against  compares npm start with another server that has the same HTTP API; no section runs
             --token: a token of that server; --organization: where workspaces are created on it, by default a new
             one; --workspaces: how many are created on each of the two servers`;

/** Parses the command line. Returns undefined for `--help`. Throws an error if an option is invalid. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", default: sectionNames.join(",") },
      seconds: { type: "string", default: "8" },
      clients: { type: "string", default: "16" },
      largest: { type: "string", default: "1024" },
      sizes: { type: "string", default: "100,10000,100000" },
      each: { type: "string", default: "10" },
      versions: { type: "string", default: "1000000" },
      checkout: { type: "string" },
      against: { type: "string" },
      token: { type: "string" },
      organization: { type: "string" },
      workspaces: { type: "string", default: "200" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const only = values.only.split(",").map((text) => {
    const name = sectionNames.find((known) => known === text.trim());
    if (!name) throw new Error(`--only: there is no section ${text}`);
    return name;
  });
  return {
    only,
    seconds: countOf("seconds", values.seconds),
    clients: countOf("clients", values.clients),
    largestMebibytes: countOf("largest", values.largest),
    each: countOf("each", values.each),
    versions: countOf("versions", values.versions),
    checkout: values.checkout === undefined ? undefined : path.resolve(values.checkout),
    against: serverOf(values),
    workspaces: countOf("workspaces", values.workspaces),
    sizes: values.sizes
      .split(",")
      .map((text) => countOf("sizes", text))
      .toSorted((a, b) => a - b),
  };
}

/** Returns the number of a command's option. Throws `StartError` unless it is a whole number of at least `least`. */
export function countOf(name: string, text: string, least = 1): number {
  const count = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isSafeInteger(count) || count < least) {
    throw new StartError(`--${name} is '${text}'; expected a whole number, at least ${least}.`);
  }
  return count;
}

function serverOf({
  against,
  token,
  organization,
}: {
  against?: string | undefined;
  token?: string | undefined;
  organization?: string | undefined;
}): Options["against"] {
  if (against === undefined) return undefined;
  if (!URL.canParse(against)) throw new Error(`--against must be a URL, not ${against}`);
  if (!token) throw new Error("--against needs --token, a token of that server");
  return { url: against.replace(/\/$/, ""), token, organization };
}
