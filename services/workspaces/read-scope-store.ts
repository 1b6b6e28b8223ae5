import type { Parameters } from "./parameters-store.ts";

/** The workspaces or projects that a caller may read, in one or all of its organizations. */
export interface ReadScope {
  /** The organizations that the caller belongs to. */
  memberOf: readonly string[];
  /** Organizations in which the caller may read all objects. */
  organizationIds: readonly string[];
  /** Projects that the caller may read in other organizations, with their workspaces. */
  projectIds: readonly string[];
  /** Single workspaces that the caller may read in other organizations, in addition to those of the projects. */
  workspaceIds: readonly string[];
}

/** Returns the scope as an SQL condition on workspaces `w`. */
export const readableWorkspaces = (readable: ReadScope, parameters: Parameters): string =>
  either(parameters, [
    ["w.organization_id", readable.organizationIds],
    ["w.project_id", readable.projectIds],
    ["w.id", readable.workspaceIds],
  ]);

/** Returns the scope as an SQL condition on projects `p`. */
export const readableProjects = (readable: ReadScope, parameters: Parameters): string =>
  either(parameters, [
    ["p.organization_id", readable.organizationIds],
    ["p.id", readable.projectIds],
  ]);

/**
 * Combines the conditions with OR, but omits those without values: an unnecessary OR would prevent PostgreSQL from
 * using the index of the other condition.
 */
function either(
  parameters: Parameters,
  columns: readonly (readonly [name: string, values: readonly string[]])[],
): string {
  const needed = columns
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => `${name} = any(${parameters.bind(values)})`);
  return needed.length > 0 ? `(${needed.join(" or ")})` : "false";
}
