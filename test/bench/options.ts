import path from "node:path";
import { parseArgs } from "node:util";
import { StartError } from "@statehouse/runtime";

export const sectionNames = [
  "growth",
  "peers",
  "requests",
  "uploads",
  "events",
  "replicas",
] as const;
export type SectionName = (typeof sectionNames)[number];

export interface Options {
  only: readonly SectionName[];
  /** Number of rounds for each candidate; a round takes about a second. */
  seconds: number;
  /** Number of keep-alive connections. */
  clients: number;
  /** Largest state that is uploaded and downloaded, in MiB. */
  largestMebibytes: number;
  /** Numbers of workspaces for which requests are compared, in ascending order. */
  sizes: readonly number[];
  /** Number of state versions of each workspace in the section `growth`. */
  each: number;
  /** Another checkout, whose `npm start` is compared with that of this checkout. */
  checkout: string | undefined;
  /** Another server with the same HTTP API, with which `npm start` is compared. */
  against: { url: string; token: string; organization: string | undefined } | undefined;
  /** Number of workspaces that `peers`, `requests` and `replicas` create on each server. */
  workspaces: number;
}

export const usage = `npm run bench -- [--only growth,uploads] [--seconds 8] [--clients 8] [--workspaces 200]
                 [--sizes 100,10000,100000] [--each 10] [--largest 1024] [--checkout FOLDER]
npm run bench -- --against URL --token TOKEN [--organization NAME] [--seconds 8] [--clients 8] [--workspaces 200]
  growth    requests among 100, 10,000 and 100,000 workspaces, and the sizes of the databases
  peers     requests of npm start, compared with another server or checkout; needs --against or --checkout
  requests  what each request costs npm start: statements, round trips, and CPU time of Node, PostgreSQL and NATS,
            above the floor of node:http and pg; with --checkout, compared with npm start of another checkout
  uploads   state writes by 1, 8 and 32 clients and downloads, 1 KiB to 1 GiB, compared with the object store
  events    how late events arrive at 1,000 a second, and what limits the relay; for ten minutes: --seconds 600
  replicas  what requests of a member cost each service, with one and with two replicas: CPU time, memory, connections
  --seconds  measured rounds, of about a second, for each candidate   --clients  keep-alive connections
  --workspaces  how many peers, requests and replicas create on each server
  --sizes    numbers of workspaces in growth; a million with ten versions each need 16 GB: --sizes 100,1000000
  --each     state versions of each workspace in growth
  --largest  MiB of the largest state in uploads
  --checkout another checkout of Statehouse, for peers and requests
  --against  compares npm start with another server that has the same HTTP API, and runs no other section
             --token: a token of that server; --organization: where workspaces are created on it, by default a new one`;

/** Parses the command line. Returns undefined for `--help`. Throws an error if an option is invalid. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", default: sectionNames.join(",") },
      seconds: { type: "string", default: "8" },
      clients: { type: "string", default: "8" },
      largest: { type: "string", default: "1024" },
      sizes: { type: "string", default: "100,10000,100000" },
      each: { type: "string", default: "10" },
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
  const against = serverOf(values);
  return {
    only: against ? ["peers"] : only,
    seconds: countOf("seconds", values.seconds),
    clients: countOf("clients", values.clients),
    largestMebibytes: countOf("largest", values.largest),
    each: countOf("each", values.each),
    checkout: values.checkout === undefined ? undefined : path.resolve(values.checkout),
    against,
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
