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
 * Records that `error` refuses a caller because the caller lacks rights in this place; returns the error. An error of
 * the kind `forbidden` is a refusal even without this record, but then its place is unknown.
 */
export function asRefusal(
  error: AppError,
  { organizationId, projectId, workspaceId }: Refusal = {},
) {
  refusals.set(error, { organizationId, projectId, workspaceId });
  return error;
}

/** Returns the place in which the caller lacks rights; undefined if the error has another reason. */
export const refusalOf = (error: AppError): Refusal | undefined =>
  refusals.get(error) ?? (error.kind === "forbidden" ? {} : undefined);
