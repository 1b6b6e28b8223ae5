import { invalid, type Problems, quoted } from "@statehouse/errors";
import type { WorkspaceId } from "./ids.ts";
import type { Workspace } from "./workspace.ts";

/** Specification, "Remote state consumers": the set can be changed "only when global-remote-state is false". */
export function requireApprovedConsumers({
  globalRemoteState,
}: Pick<Workspace, "globalRemoteState">): void {
  if (globalRemoteState) throw globalRemoteStateEnabled();
}

/**
 * Adds the ids of a request that cannot be consumers of the workspace to `problems`. `eligible` are the workspaces of
 * its organization that the caller may read.
 */
export function checkConsumers(
  { id: workspaceId }: Pick<Workspace, "id">,
  given: readonly WorkspaceId[],
  eligible: ReadonlySet<WorkspaceId>,
  problems: Problems,
): void {
  given.forEach((id, index) => {
    const path = `consumerIds[${index}]`;
    // A workspace can always read its own state.
    if (id === workspaceId) problems.add(path, "A workspace cannot be its own consumer");
    // The same text for missing and for hidden workspaces, so that it does not reveal which exist.
    else if (!eligible.has(id)) problems.add(path, `Workspace ${quoted(id)} was not found`);
  });
}

/** While all workspaces of the organization may read the state, the set cannot be changed. */
export const globalRemoteStateEnabled = () =>
  invalid([
    {
      field: "consumerIds",
      detail:
        "Remote state consumers cannot be changed while global remote state sharing is enabled",
    },
  ]);
