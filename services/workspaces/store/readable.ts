import type { Parameters } from "./parameters.ts";

/** What a caller may read of one kind of thing, over all its organizations. */
export interface Readable {
  /** Every organization that the caller belongs to. */
  memberOf: readonly string[];
  /** Those in which it may read all of them. */
  organizationIds: readonly string[];
  /** Elsewhere: those in these projects. */
  projectIds: readonly string[];
}

/** As a condition on workspaces `w`. */
export const readableWorkspaces = (readable: Readable, parameters: Parameters): string =>
  either(readable, parameters, { organization: "w.organization_id", project: "w.project_id" });

/** As a condition on projects `p`. */
export const readableProjects = (readable: Readable, parameters: Parameters): string =>
  either(readable, parameters, { organization: "p.organization_id", project: "p.id" });

/** Only what is needed: an OR would keep PostgreSQL from the index of the other half. */
function either(
  { organizationIds, projectIds }: Readable,
  parameters: Parameters,
  column: { organization: string; project: string },
): string {
  const whole = () => `${column.organization} = any(${parameters.bind(organizationIds)})`;
  const some = () => `${column.project} = any(${parameters.bind(projectIds)})`;
  if (projectIds.length === 0) return whole();
  if (organizationIds.length === 0) return some();
  return `(${whole()} or ${some()})`;
}
