import { notFound } from "@statehouse/errors";
import { ProjectService } from "@statehouse/proto/statehouse/workspaces/v1/project";
import { RunService } from "@statehouse/proto/statehouse/workspaces/v1/run";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { type CallOptions, type Channel, createClient } from "@statehouse/rpc";
import type { App } from "../app/app.ts";

/** Workspaces as the use cases see it. */
export function neighbourOver(
  channel: Channel,
  identity: CallOptions,
): Pick<App, "organizationOfProject" | "placementOfWorkspace" | "placeRun"> {
  const projects = createClient(ProjectService, channel, identity);
  const runs = createClient(RunService, channel, identity);
  const locks = createClient(WorkspaceLockService, channel, identity);
  return {
    async organizationOfProject(projectId) {
      return (await projects.getProjectPlacement({ projectId })).organizationId;
    },
    async placeRun(run) {
      return (await runs.getRunPlacement(run)).organizationId;
    },
    async placementOfWorkspace(workspaceId) {
      const { placement } = await locks.getPlacement({ workspaceId });
      if (!placement) throw notFound("workspace");
      const { organizationId, projectId } = placement;
      return { organizationId, projectId, workspaceId };
    },
  };
}
