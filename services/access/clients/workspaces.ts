import { OrganizationService } from "@statehouse/proto/statehouse/workspaces/v1/organization";
import { ProjectService } from "@statehouse/proto/statehouse/workspaces/v1/project";
import { RunService } from "@statehouse/proto/statehouse/workspaces/v1/run";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { type CallOptions, type Channel, createClient } from "@statehouse/rpc";
import type { WorkspacesClient } from "../clients-app.ts";
import { organizationNotFound, projectNotFound, workspaceNotFound } from "../errors-domain.ts";
import { idParser } from "../ids-domain.ts";

const organizationId = idParser("org", organizationNotFound);
const projectId = idParser("prj", projectNotFound);

/** Creates the client for the workspaces service. */
export function createWorkspacesClient(channel: Channel, identity: CallOptions): WorkspacesClient {
  const organizations = createClient(OrganizationService, channel, identity);
  const projects = createClient(ProjectService, channel, identity);
  const runs = createClient(RunService, channel, identity);
  const locks = createClient(WorkspaceLockService, channel, identity);
  return {
    async nameOfOrganization(id) {
      return (await organizations.getOrganizationName({ organizationId: id })).name;
    },
    async organizationOfProject(id) {
      const placement = await projects.getProjectPlacement({ projectId: id });
      return organizationId(placement.organizationId);
    },
    async placementOfWorkspace(workspaceId) {
      const { placement } = await locks.getPlacement({ workspaceId });
      if (!placement) throw workspaceNotFound();
      return {
        organizationId: organizationId(placement.organizationId),
        projectId: projectId(placement.projectId),
        workspaceId,
      };
    },
    async placeRun(run) {
      const { runner, ...placement } = await runs.getRunPlacement(run);
      return { organizationId: organizationId(placement.organizationId), runner: runner || null };
    },
    async listDeletedWorkspaces(ids) {
      const { deletedWorkspaceIds } = await locks.batchGetPlacements({ workspaceIds: [...ids] });
      return ids.filter((id) => deletedWorkspaceIds.includes(id));
    },
    async listDeletedProjects(ids) {
      const { projectIds } = await projects.listExistingProjects({ projectIds: [...ids] });
      return ids.filter((id) => !projectIds.includes(id));
    },
    async listEndedRuns(ids) {
      const { runIds } = await runs.listEndedRuns({ runIds: [...ids] });
      return ids.filter((id) => runIds.includes(id));
    },
  };
}
