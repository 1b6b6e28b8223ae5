import type { AppError } from "./app-error.ts";

/**
 * The organization, project or workspace in which a caller lacks rights. The audit trail records it; responses do not
 * contain it.
 */
export interface Refusal {
  organizationId?: string | undefined;
  projectId?: string | undefined;
  workspaceId?: string | undefined;
}

const refusals = new WeakMap<AppError, Refusal>();

/**
 * Marks `error` as the refusal of a caller that lacks rights in an organization, project or workspace; returns the
 * error. An error of the kind `forbidden` is a refusal even without this mark, but then it is unknown where rights are
 * missing.
 */
export function asRefusal(
  error: AppError,
  { organizationId, projectId, workspaceId }: Refusal = {},
) {
  refusals.set(error, { organizationId, projectId, workspaceId });
  return error;
}

/** Returns the organization, project or workspace in which the caller lacks rights; undefined for other errors. */
export const refusalOf = (error: AppError): Refusal | undefined =>
  refusals.get(error) ?? (error.kind === "forbidden" ? {} : undefined);
