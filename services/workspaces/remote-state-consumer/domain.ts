import { invalid, type Problems, quoted } from "@statehouse/errors";
import type { WorkspaceId } from "../ids-domain.ts";
import type { Workspace } from "../workspace/domain.ts";

/**
 * Throws `invalid` if global remote state is enabled: the set of consumers can be changed only while it is disabled.
 */
export function requireApprovedConsumers({
  globalRemoteState,
}: Pick<Workspace, "globalRemoteState">): void {
  if (globalRemoteState) throw globalRemoteStateEnabled();
}

/**
 * Adds a problem for each id of a request that cannot be a consumer of the workspace: its own id, and ids that are not
 * in `eligible`.
 */
export function checkConsumers(
  { id: workspaceId }: Pick<Workspace, "id">,
  requested: readonly WorkspaceId[],
  eligible: ReadonlySet<WorkspaceId>,
  problems: Problems,
): void {
  requested.forEach((id, index) => {
    const path = `consumerIds[${index}]`;
    // A workspace can always read its own state and need not be its own consumer.
    if (id === workspaceId) problems.add(path, "A workspace cannot be its own consumer");
    // Missing and hidden workspaces have the same message, so that the response does not reveal which workspaces exist.
    else if (!eligible.has(id)) problems.add(path, `Workspace ${quoted(id)} was not found`);
  });
}

/**
 * Thrown if the set of consumers is changed while global remote state is enabled: all workspaces of the organization
 * may then read the state.
 */
export const globalRemoteStateEnabled = () =>
  invalid([
    {
      field: "consumerIds",
      detail:
        "Remote state consumers cannot be changed while global remote state sharing is enabled",
    },
  ]);
