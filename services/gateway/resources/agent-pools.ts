import type { AgentPool } from "@statehouse/proto/statehouse/workspaces/v1/agent_pool";
import { AgentPoolService } from "@statehouse/proto/statehouse/workspaces/v1/agent_pool";
import type { RequestContext } from "../http/route.ts";
import { toOne } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { timestamp } from "./timestamps.ts";

const linked = (type: string, idsOf: (pool: AgentPool) => readonly string[]) => ({
  show: (pool: AgentPool) => ({ data: idsOf(pool).map((id) => ({ type, id })) }),
});

/** A record: what its agents would be is not run here. */
export const agentPoolResource = resource<AgentPool, RequestContext>({
  type: "agent-pools",
  id: ({ id }) => id,
  attributes: (pool) => ({
    name: pool.name,
    "created-at": timestamp(pool.createdAt),
    "organization-scoped": pool.organizationScoped,
    "agent-count": 0,
  }),
  relationships: {
    organization: toOne({
      linkage: ({ organizationName }) => ({ type: "organizations", id: organizationName }),
      links: ({ organizationName }) => ({ related: `/api/v2/organizations/${organizationName}` }),
    }),
    workspaces: linked("workspaces", ({ workspaceIds }) => workspaceIds),
    "allowed-workspaces": linked("workspaces", ({ allowedWorkspaceIds }) => allowedWorkspaceIds),
    "allowed-projects": linked("projects", ({ allowedProjectIds }) => allowedProjectIds),
    "excluded-workspaces": linked("workspaces", ({ excludedWorkspaceIds }) => excludedWorkspaceIds),
  },
  links: ({ id }) => ({ self: `/api/v2/agent-pools/${id}` }),
  loadMany: async (ids, { client, caller }) =>
    (await client(AgentPoolService).batchGetAgentPools({ ids: [...ids] }, caller)).agentPools,
});
