import { newOrganization } from "../../stack/organization.ts";
import { startStack } from "../../stack/stack.ts";
import { expectStatus, stateFile, writeState } from "../../stack/state.ts";
import { newWorkspaceIn } from "../../stack/workspace.ts";
import { type Aim, atLeast } from "../aim.ts";
import type { Ground } from "../bench.ts";
import { callerOf } from "../caller.ts";
import { seed } from "../seed.ts";
import { printTable } from "../table.ts";

const SIZES = [10, 1000, 100_000];
/** Highest permitted ratio of a request's time with 100,000 state versions to its time with 10. */
const FACTOR = 1.5;
const PACE = { warmUp: 0.4, round: 0.4, rounds: 7 };

/** Paths below `/api/v2`. The lists filter by organization and workspace name, as clients do. */
const requests: Readonly<Record<string, (of: { id: string; query: string }) => string>> = {
  "current version": ({ id }) => `/workspaces/${id}/current-state-version`,
  "list of 10": ({ query }) => `/state-versions?${query}&page[size]=10`,
  "list of 10, finalized": ({ query }) =>
    `/state-versions?${query}&page[size]=10&filter[status]=finalized`,
};

/**
 * (k) Measures requests for the current state version and for lists of state versions, with few and with many state
 * versions in one workspace.
 */
export async function versionSizes({ contest, postgres }: Ground): Promise<Aim[]> {
  await using stack = await startStack({ blobs: "directory", settings: { LOG_LEVEL: "warn" } });
  const owner = callerOf(stack, await stack.people.newUser());
  const organization = await newOrganization(owner.api);
  const workspaces: { id: string; query: string; size: number }[] = [];
  for (const size of SIZES) {
    const name = `with-${size}`;
    const { id } = await newWorkspaceIn(owner.api, organization, { name });
    const written = await expectStatus(201, writeState(owner.api, id, stateFile({ resources: 3 })));
    const query = `filter[organization][name]=${organization}&filter[workspace][name]=${name}`;
    // Inserts the older versions; the current one was created through the API.
    await seed(stack.databases.state, ({ copies }) =>
      copies("state_versions", written.body.data.id, size - 1, {
        id: `'sv-${size}x' || n`,
        position: "n",
        lock_epoch: "n",
        created_at: "original.created_at - n * interval '1 minute'",
      }),
    );
    workspaces.push({ id, query, size });
  }
  const rows: (string | number)[][] = [];
  const aims: Aim[] = [];
  for (const [name, path] of Object.entries(requests)) {
    const measured = await contest(
      workspaces.map((workspace) => ({
        name: `${workspace.size} versions`,
        plan: {
          origin: stack.url,
          headers: owner.headers,
          connections: Array.from({ length: 8 }, () => [
            { method: "GET", path: encodeURI(`/api/v2${path(workspace)}`), expect: 200 } as const,
          ]),
        },
        processes: [{ name: "statehouse", pid: process.pid }, postgres],
      })),
      PACE,
    );
    const ratio = measured.at(-1)?.ratio ?? Number.NaN;
    rows.push([name, ...measured.flatMap(({ perSecond, p99 }) => [perSecond, p99]), ratio]);
    const what = `(k) ${name}, rate among 100,000 versions against 10`;
    aims.push(atLeast(what, Number((1 / FACTOR).toFixed(2)), ratio));
  }
  printTable(
    "(k) one process, by number of versions in the workspace",
    [
      "",
      ...SIZES.flatMap((size) => [`${size.toLocaleString("en")}: /s`, "p99 ms"]),
      "last of first",
    ],
    rows,
  );
  return aims;
}
