import {
  type Action,
  allowed,
  type Caller,
  grantsOf,
  scope,
  type TargetOf,
} from "@statehouse/authorization";
import { forbidden } from "@statehouse/errors";
import { lockHolderNotAllowed } from "./errors-domain.ts";
import type { Holder } from "./ids-domain.ts";
import type { ReadScope } from "./read-scope-store.ts";
import type { Workspace } from "./workspace/domain.ts";

/** Returns the placement of a workspace in the form that authorization checks use. */
export const targetOf = ({
  id: workspaceId,
  organizationId,
  projectId,
}: Pick<Workspace, "id" | "organizationId" | "projectId">) => ({
  organizationId,
  projectId,
  workspaceId,
});

/** Returns the caller as the holder of a lock. Throws `forbidden` if the caller cannot hold a lock. */
export function holderOf(caller: Caller): Holder {
  const { type, id } = grantsOf(caller).principal;
  if (type === "user" || type === "team" || type === "run") return { type, id };
  throw lockHolderNotAllowed();
}

/** Returns the name of the calling runner. Throws `forbidden` for callers that are not services. */
export function runnerOf(caller: Caller): string {
  if (caller.kind !== "service") throw forbidden("runners_only", "Only a runner may do this.");
  return caller.name;
}

/** Returns those of `rows` on which the caller may perform `action`. */
export function allowedRows<A extends Action, Row extends TargetOf<A>>(
  caller: Caller,
  action: A,
  rows: readonly Row[],
): Row[] {
  const grants = grantsOf(caller);
  return rows.filter((row) => allowed(grants, action, row));
}

/**
 * Returns the projects and workspaces in which the caller may perform `action`, in the form that SQL conditions use. By
 * default, from all organizations of the caller.
 */
export function readScopeOf(
  caller: Caller,
  action: Action,
  memberOf: readonly string[] = [...grantsOf(caller).organizations.keys()],
): ReadScope {
  const grants = grantsOf(caller);
  const scopes = memberOf.map((id) => ({ id, scope: scope(grants, action, id) }));
  return {
    memberOf,
    organizationIds: scopes.filter(({ scope }) => scope.all).map(({ id }) => id),
    projectIds: scopes.flatMap(({ scope }) => (scope.all ? [] : scope.projectIds)),
    workspaceIds: scopes.flatMap(({ scope }) => (scope.all ? [] : scope.workspaceIds)),
  };
}
