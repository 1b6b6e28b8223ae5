import type { AppError } from "./app-error.ts";

/** Where a caller lacks rights. The audit trail records it; responses do not contain it. */
export interface Refusal {
  organizationId?: string | undefined;
  projectId?: string | undefined;
  workspaceId?: string | undefined;
}

const refusals = new WeakMap<AppError, Refusal>();

/**
 * Returns `error`, noted as the refusal of a caller that lacks rights. Needed for errors that must not reveal this to
 * the caller, such as `notFound`, and for the place of others.
 */
export function asRefusal(
  error: AppError,
  { organizationId, projectId, workspaceId }: Refusal = {},
) {
  refusals.set(error, { organizationId, projectId, workspaceId });
  return error;
}

/** Returns where the caller lacks rights; undefined if the error has another reason. */
export const refusalOf = (error: AppError): Refusal | undefined =>
  refusals.get(error) ?? (error.kind === "forbidden" ? {} : undefined);
