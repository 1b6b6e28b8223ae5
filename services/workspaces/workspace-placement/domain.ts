import { nextVersion } from "@statehouse/events/version";
import { inheritActivityDuration } from "../auto-destroy/domain.ts";
import type { OrganizationId, ProjectId, WorkspaceId } from "../ids-domain.ts";
import { RETRY_AFTER_MS } from "../pending-sync/domain.ts";
import type { Project } from "../project/domain.ts";
import type { Workspace } from "../workspace/domain.ts";

/**
 * The organization and project of a workspace. The state service stores them too, because its authorization uses grants
 * on organizations and projects.
 */
export interface Placement {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  projectId: ProjectId;
  version: bigint;
}

/**
 * Moves a workspace to another project of its organization. The calling function must then send the placement to the
 * state service.
 */
export function moveWorkspace(
  workspace: Workspace,
  { id: projectId, autoDestroyActivityDuration }: Project,
  now: Date,
): void {
  workspace.projectId = projectId;
  inheritActivityDuration(workspace, autoDestroyActivityDuration, now);
  workspace.placementVersion = nextVersion(workspace.placementVersion, now);
  workspace.retryAt = new Date(now.getTime() + RETRY_AFTER_MS);
}

/** Returns the workspace's placement if the state service has not confirmed it; otherwise undefined. */
export function pendingPlacement(workspace: Workspace): Placement | undefined {
  const { id: workspaceId, organizationId, projectId, placementVersion: version } = workspace;
  if (workspace.placementAcknowledged >= version) return undefined;
  return { workspaceId, organizationId, projectId, version };
}
