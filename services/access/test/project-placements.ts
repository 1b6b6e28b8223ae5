import { notFound } from "@statehouse/errors";
import { ProjectService } from "@statehouse/proto/statehouse/workspaces/v1/project";
import { type AssertionKeys, type Channel, createRpcServer, implement } from "@statehouse/rpc";
import type { Logger } from "@statehouse/runtime";

/** The neighbour's end of the one question that access asks: where a project belongs. */
export function projectPlacements({ keys, logger }: { keys: AssertionKeys; logger: Logger }) {
  const placed = new Map<string, string>();
  const elsewhere = async (): Promise<never> => {
    throw notFound("method in this test");
  };
  const server = createRpcServer({
    name: "workspaces",
    keys,
    logger,
    context: async () => ({}),
    bindings: [
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
          return { organizationId };
        },
      }),
    ],
  });
  const channel: Channel = server.inProcess();
  return {
    channel,
    place: (projectId: string, organizationId: string) => {
      placed.set(projectId, organizationId);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
