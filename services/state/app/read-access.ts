import {
  allowed,
  authorize,
  type Caller,
  requireSight,
  type Target,
} from "@statehouse/authorization";
import { notFound } from "@statehouse/errors";
import type { App } from "./app.ts";

type Reading = "state:read" | "state:read-outputs";
type Place = Required<Target>;

/**
 * Throws unless the caller may read what lies in the target's workspace: the workspace's state as a whole, or
 * `what`, which is not there for who may not. What a run may read, its own workspace included, says workspaces,
 * every time: consumer sets change, and runs end.
 */
export async function authorizeRead(
  app: App,
  caller: Caller,
  action: Reading,
  target: Place,
  what?: string,
): Promise<void> {
  const run = runOf(caller);
  if (run) {
    const readable = await readableByRun(app, run, [target]);
    if (!readable.has(target.workspaceId)) throw notFound(what ?? "workspace");
  } else if (what === undefined) authorize(caller, action, target);
  else requireSight(caller, action, target, what);
}

/** Those of `items` that the caller may read; one question for all of them. */
export async function readableOf<Item extends Place>(
  app: App,
  caller: Caller,
  action: Reading,
  items: readonly Item[],
): Promise<Item[]> {
  if (caller.kind !== "principal" || items.length === 0) return [];
  const run = runOf(caller);
  if (!run) return items.filter((item) => allowed(caller.grants, action, item));
  const readable = await readableByRun(app, run, items);
  return items.filter(({ workspaceId }) => readable.has(workspaceId));
}

type PrincipalCaller = Extract<Caller, { kind: "principal" }>;

const runOf = (caller: Caller): PrincipalCaller | undefined =>
  caller.kind === "principal" && caller.principal.type === "run" ? caller : undefined;

/** A run's grants are on one workspace: its own. */
const workspaceOf = ({ grants }: PrincipalCaller): string | undefined =>
  [...grants.organizations.values()].flatMap(({ workspaces }) => [...workspaces.keys()])[0];

async function readableByRun(
  app: App,
  caller: PrincipalCaller,
  targets: readonly Place[],
): Promise<ReadonlySet<string>> {
  const consumerId = workspaceOf(caller);
  if (consumerId === undefined) return new Set();
  const workspaceIds = [...new Set(targets.map(({ workspaceId }) => workspaceId))];
  return app.workspaces.readableByRun({ runId: caller.principal.id, consumerId, workspaceIds });
}
