import { allowed, type Caller } from "@statehouse/authorization";
import type { RunView } from "../domain/run.ts";
import type { App } from "./app.ts";
import { grantsOf } from "./caller.ts";

/** Those of `ids` that were reported and whose workspaces the caller may read. */
export async function batchGetRuns(
  app: App,
  caller: Caller,
  ids: readonly string[],
): Promise<RunView[]> {
  const grants = grantsOf(caller);
  const runs = await app.reads.runs.batch(ids);
  return runs.filter((run) => allowed(grants, "workspace:read", run));
}
