import {
  allowed,
  authorize,
  authorizeOrNotFound,
  type Caller,
  type Target,
} from "@statehouse/authorization";
import { AppError, asRefusal, isNotFound, notFound } from "@statehouse/errors";
import type { App } from "./app.ts";
import { organizationTokenWrites, stateVersionNotFound } from "./errors-domain.ts";
import type { Creator } from "./state-version/domain.ts";

type ReadAction = "state:read" | "state:read-outputs";
type WorkspaceTarget = Required<Target>;

/**
 * Throws if the caller is not allowed to read the state of the target's workspace. Without `what`, the error is
 * `forbidden` or `notFound`. If `what` names a single resource, or if the caller is a run, the error is always
 * `notFound`.
 *
 * For run tokens the workspaces service decides on every read, even of the run's own workspace, because remote state
 * consumers change and runs end.
 */
export async function authorizeRead(
  app: App,
  caller: Caller,
  action: ReadAction,
  target: WorkspaceTarget,
  what?: string,
): Promise<void> {
  const run = runOf(caller);
  if (run) {
    const readable = await listReadableByRun(app, run, [target]);
    if (!readable.has(target.workspaceId)) {
      throw asRefusal(notFound(what ?? "workspace"), target);
    }
  } else if (what === undefined) authorize(caller, action, target);
  else authorizeOrNotFound(caller, action, target, what);
}

/** Returns the items among `items` that the caller may read, with at most one call to the workspaces service. */
export async function readableOf<Item extends WorkspaceTarget>(
  app: App,
  caller: Caller,
  action: ReadAction,
  items: readonly Item[],
): Promise<Item[]> {
  if (caller.kind !== "principal" || items.length === 0) return [];
  const run = runOf(caller);
  if (!run) return items.filter((item) => allowed(caller.grants, action, item));
  const readable = await listReadableByRun(app, run, items);
  return items.filter(({ workspaceId }) => readable.has(workspaceId));
}

/** Throws `forbidden` for organization tokens; specification, "Authentication", rule 7. */
export function requireNoOrganizationToken(caller: Caller): void {
  if (caller.kind === "principal" && caller.principal.type === "organization") {
    throw organizationTokenWrites();
  }
}

/**
 * Returns the creator of a version with its current grants. Throws `stateVersionNotFound` if the creator can no longer
 * be authenticated, for example because its token is revoked, or if it is a run that has ended. Does not check the
 * grants; `requireWritable` does.
 */
export async function currentCreator(
  app: App,
  creator: Creator,
  target: Pick<WorkspaceTarget, "workspaceId">,
): Promise<Caller> {
  const caller = await app.authenticateCreator(creator).catch((error: unknown) => {
    throw isNotFound(error) || isUnauthenticated(error) ? stateVersionNotFound() : error;
  });
  const run = runOf(caller);
  if (run && !(await listReadableByRun(app, run, [target])).has(target.workspaceId)) {
    throw stateVersionNotFound();
  }
  return caller;
}

/** Throws `stateVersionNotFound` unless the grants of a version's creator allow writing its workspace. */
export function requireWritable(creator: Caller, target: WorkspaceTarget): void {
  if (creator.kind === "principal" && allowed(creator.grants, "state:write", target)) return;
  throw stateVersionNotFound();
}

type PrincipalCaller = Extract<Caller, { kind: "principal" }>;

const runOf = (caller: Caller): PrincipalCaller | undefined =>
  caller.kind === "principal" && caller.principal.type === "run" ? caller : undefined;

/** Returns the run's own workspace: the only workspace in its grants. */
const workspaceOf = ({ grants }: PrincipalCaller): string | undefined =>
  [...grants.organizations.values()].flatMap(({ workspaces }) => [...workspaces.keys()])[0];

async function listReadableByRun(
  app: App,
  caller: PrincipalCaller,
  targets: readonly Pick<WorkspaceTarget, "workspaceId">[],
): Promise<ReadonlySet<string>> {
  const consumerId = workspaceOf(caller);
  if (consumerId === undefined) return new Set();
  const workspaceIds = [...new Set(targets.map(({ workspaceId }) => workspaceId))];
  return app.workspaces.listReadableByRun({ runId: caller.principal.id, consumerId, workspaceIds });
}

const isUnauthenticated = (error: unknown): boolean =>
  error instanceof AppError && error.kind === "unauthenticated";
