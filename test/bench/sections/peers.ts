import type { Aim } from "../aim.ts";
import { alternate, medianOf, ratiosOf } from "../load.ts";
import { startNpm, thisCheckout } from "../npm-start.ts";
import type { Options } from "../options.ts";
import { candidateOf, requests } from "../requests.ts";
import { type Address, fill } from "../server.ts";
import { median } from "../statistics.ts";
import { type Cell, print, printTable } from "../table.ts";

/**
 * Compares `npm start` of this checkout with another server or with `npm start` of another checkout: sends the same
 * requests to both in alternating rounds, with data that it creates through the API. Prints operations per second and
 * their ratio, and the 99th percentile of the latency of requests.
 */
export async function peers(options: Options): Promise<Aim[]> {
  const { against, checkout, clients, workspaces, seconds } = options;
  if (!against && checkout === undefined) {
    print("peers is left out: it needs --against or --checkout");
    return [];
  }
  await using started = new AsyncDisposableStack();
  const start = async (folder: string) => {
    const running = started.use(await startNpm(folder));
    await running.meter("stop");
    const { url, token, organization } = running;
    return { url, token, organization };
  };
  const addresses: Address[] = [
    { name: "this checkout", ...(await start(thisCheckout)) },
    { name: "the other", ...(against ?? (await start(checkout ?? ""))) },
  ];
  const servers = [];
  for (const address of addresses) {
    print(`${address.name}: creating ${workspaces} workspaces at ${address.url}`);
    servers.push(await fill(address, { workspaces, connections: clients }));
  }
  const rows: Cell[][] = [];
  for (const request of requests) {
    const candidates = servers.map((server) => candidateOf(server, request));
    if (!candidates.every((candidate) => candidate !== undefined)) {
      print(`${request.name}: left out, because another host serves it`);
      continue;
    }
    const [ours = [], others = []] = await alternate(candidates, { rounds: seconds });
    const ratios = ratiosOf(ours, others);
    rows.push([
      ...[request.name, medianOf(ours, "perSecond"), medianOf(others, "perSecond")],
      ...[median(ratios), Math.min(...ratios), Math.max(...ratios)],
      ...[medianOf(ours, "p99"), medianOf(others, "p99")],
    ]);
  }
  const head = ["", "this, per s", "other, per s", "ratio", "lowest", "highest"];
  printTable(
    `this checkout and ${against?.url ?? checkout}, ${clients} connections, ${workspaces} workspaces, median of ${seconds} rounds`,
    [...head, "this p99, ms", "other p99, ms"],
    rows,
  );
  return [];
}
