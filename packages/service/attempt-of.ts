import type { DescMethod } from "@bufbuild/protobuf";
import type { Attempt } from "@statehouse/audit";
import type { AppError, Refusal } from "@statehouse/errors";
import { kebabCase } from "@statehouse/runtime";

/**
 * Returns the refused attempt that the audit trail counts for a refused call. Its action is, for example,
 * `workspace-lock.lock-workspace` for `WorkspaceLockService.LockWorkspace`.
 */
export function attemptOf(
  method: Pick<DescMethod, "name"> & { parent: Pick<DescMethod["parent"], "name"> },
  { reason }: Pick<AppError, "reason">,
  { organizationId, projectId, workspaceId }: Refusal,
): Attempt {
  const noun = kebabCase(method.parent.name.replace(/Service$/, ""));
  const place = workspaceId ? "workspace" : projectId ? "project" : undefined;
  return {
    organization: organizationId,
    action: `${noun}.${kebabCase(method.name)}`,
    resource: { type: place ?? noun, id: workspaceId ?? projectId },
    code: reason,
  };
}
