import { notFound, unavailable } from "@statehouse/errors";
import { OrganizationService } from "@statehouse/proto/statehouse/workspaces/v1/organization";
import { ProjectService } from "@statehouse/proto/statehouse/workspaces/v1/project";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { type AssertionKeys, type Channel, createRpcServer, implement } from "@statehouse/rpc";
import type { Logger } from "@statehouse/runtime";

/**
 * Creates a stub of the workspaces service, which returns the names of organizations and the placements of projects and
 * workspaces.
 */
export function projectPlacements({ keys, logger }: { keys: AssertionKeys; logger: Logger }) {
  const placed = new Map<string, string>();
  const workspaces = new Map<string, { organizationId: string; projectId: string }>();
  /** Ids of targets that are deleted after their placement has been returned once. */
  const leaving = new Set<string>();
  /** Ids of organizations whose name the next call does not return. */
  const unnamed = new Set<string>();
  const elsewhere = async (): Promise<never> => {
    throw notFound("method in this test");
  };
  const server = createRpcServer({
    name: "workspaces",
    keys,
    logger,
    context: async () => ({}),
    bindings: [
      implement(OrganizationService, {
        createOrganization: elsewhere,
        getOrganization: elsewhere,
        listOrganizations: elsewhere,
        updateOrganization: elsewhere,
        deleteOrganization: elsewhere,
        batchGetOrganizations: elsewhere,
        batchGetBilling: elsewhere,
        getOrganizationName: async ({ organizationId }) => {
          if (unnamed.delete(organizationId)) throw unavailable("test", "The name is unavailable.");
          return { name: `name-of-${organizationId}` };
        },
      }),
      implement(ProjectService, {
        createProject: elsewhere,
        getProject: elsewhere,
        listProjects: elsewhere,
        batchGetProjects: elsewhere,
        updateProject: elsewhere,
        deleteProject: elsewhere,
        getProjectPlacement: async ({ projectId }) => {
          const organizationId = placed.get(projectId);
          if (!organizationId) throw notFound("project");
          if (leaving.has(projectId)) placed.delete(projectId);
          return { organizationId };
        },
        listExistingProjects: async ({ projectIds }) => ({
          projectIds: projectIds.filter((id) => placed.has(id)),
        }),
      }),
      implement(WorkspaceLockService, {
        lockWorkspace: elsewhere,
        unlockWorkspace: elsewhere,
        forceUnlockWorkspace: elsewhere,
        getLock: elsewhere,
        getPlacement: async ({ workspaceId }) => {
          const placement = workspaces.get(workspaceId);
          if (!placement) throw notFound("workspace");
          if (leaving.has(workspaceId)) workspaces.delete(workspaceId);
          return { placement: { workspaceId, ...placement } };
        },
        batchGetPlacements: async ({ workspaceIds }) => ({
          deletedWorkspaceIds: workspaceIds.filter((id) => !workspaces.has(id)),
        }),
      }),
    ],
  });
  const channel: Channel = server.inProcess();
  return {
    channel,
    place: (projectId: string, organizationId: string) => {
      placed.set(projectId, organizationId);
    },
    placeWorkspace: (id: string, placement: { organizationId: string; projectId: string }) => {
      workspaces.set(id, placement);
    },
    /** Deletes the project or workspace as soon as its placement has been returned once. */
    removeAfterCall: (id: string) => {
      leaving.add(id);
    },
    /** Refuses the next request for the organization's name as unavailable. */
    refuseNameOnce: (organizationId: string) => {
      unnamed.add(organizationId);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
