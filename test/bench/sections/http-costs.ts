import process from "node:process";
import { newOrganization } from "../../stack/organization.ts";
import { type Stack, startStack } from "../../stack/stack.ts";
import { newWorkspaceIn } from "../../stack/workspace.ts";
import { type Aim, atLeast } from "../aim.ts";
import type { Ground } from "../bench.ts";
import { type Caller, callerOf } from "../caller.ts";
import type { Contender } from "../contest.ts";
import type { PlannedRequest } from "../load/plan.ts";
import { printRates } from "./rates.ts";

const WORKSPACES = 20;
/** A rate limit above the number of requests that the machine can serve, so that no request is refused. */
const RATE_LIMIT = "1000000";

interface Side {
  stack: Stack;
  caller: Caller;
  show: string;
  list: string;
}

/**
 * (p) Measures what features of the HTTP layer add to a request: the rate limit per token, the check of an ETag that
 * the client already has, and gzip. Requests with and without each feature alternate in one process.
 */
export async function httpCosts(ground: Ground): Promise<Aim[]> {
  const settings = { LOG_LEVEL: "warn" };
  await using plain = await startStack({ blobs: "directory", settings });
  await using limited = await startStack({
    blobs: "directory",
    settings: { ...settings, RATE_LIMIT },
  });
  const without = await sideOf(plain);
  const within = await sideOf(limited);
  const { show, list } = without;
  return [
    await compare(ground, "show a workspace, with a rate limit per token", [
      contender(ground, "without", without, { path: show }),
      contender(ground, "with RATE_LIMIT", within, { path: within.show }),
    ]),
    await compare(ground, "show a workspace that the client already has", [
      contender(ground, "200", without, { path: show }),
      contender(ground, "304", without, {
        path: show,
        expect: 304,
        headers: { "if-none-match": await tagOf(without, show) },
      }),
    ]),
    await compare(ground, "list of 20 with gzip", [
      contender(ground, "identity", without, {
        path: list,
        headers: { "accept-encoding": "identity" },
      }),
      contender(ground, "gzip", without, { path: list, headers: { "accept-encoding": "gzip" } }),
    ]),
  ];
}

async function sideOf(stack: Stack): Promise<Side> {
  const caller = callerOf(stack, await stack.people.newUser());
  const organization = await newOrganization(caller.api);
  let show = "";
  for (let index = 0; index < WORKSPACES; index++) {
    show = `/api/v2/workspaces/${(await newWorkspaceIn(caller.api, organization)).id}`;
  }
  const list = `/api/v2/organizations/${organization}/workspaces?page%5Bsize%5D=20`;
  return { stack, caller, show, list };
}

async function tagOf({ stack, caller }: Side, path: string): Promise<string> {
  // Requests the ETag without a content encoding, because each encoding has its own ETag and the load generator accepts
  // no encoding.
  const { headers } = await fetch(`${stack.url}${path}`, {
    headers: { ...caller.headers, "accept-encoding": "identity" },
  });
  return headers.get("etag") ?? "";
}

const contender = (
  { options, postgres }: Ground,
  name: string,
  { stack, caller }: Side,
  { path, expect = 200, headers = {} }: Pick<PlannedRequest, "path"> & Partial<PlannedRequest>,
): Contender => ({
  name,
  plan: {
    origin: stack.url,
    headers: caller.headers,
    connections: Array.from({ length: options.clients }, () => [
      { method: "GET", path, expect, headers: { ...caller.headers, ...headers } } as const,
    ]),
  },
  processes: [{ name: "statehouse", pid: process.pid }, postgres],
});

async function compare(
  ground: Ground,
  what: string,
  contenders: readonly Contender[],
): Promise<Aim> {
  const measured = await ground.contest(contenders);
  printRates(`(p) ${what}, one process`, measured, { ratio: `of ${contenders[0]?.name}` });
  return atLeast(`(p) ${what}, of ${contenders[0]?.name}`, 0.8, measured[1]?.ratio ?? 0);
}
