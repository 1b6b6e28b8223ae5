import type {
  AgentPool,
  AgentPoolSettingsSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/agent_pool";
import { AgentPoolService } from "@statehouse/proto/statehouse/workspaces/v1/agent_pool";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { linkages } from "../jsonapi/body.ts";
import { attributesOf, type FieldsOf, type Noun } from "../jsonapi/noun.ts";
import { toOne } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { timestamp } from "./timestamps.ts";

const linked = (type: string, idsOf: (pool: AgentPool) => readonly string[]) => ({
  show: (pool: AgentPool) => ({ data: idsOf(pool).map((id) => ({ type, id })) }),
});

const idsOf = (type: string) => linkages(type).transform((ids) => ids && { ids });

/** The attributes that clients send for an agent pool. */
export const agentPoolNoun: Noun<
  FieldsOf<typeof AgentPoolSettingsSchema>,
  AgentPool,
  RequestContext
> = {
  type: "agent-pools",
  attributes: {
    name: { field: "name", in: z.string() },
    "organization-scoped": { field: "organizationScoped", in: z.boolean() },
  },
  relationships: {
    "allowed-workspaces": { field: "allowedWorkspaces", in: idsOf("workspaces") },
    "allowed-projects": { field: "allowedProjects", in: idsOf("projects") },
    "excluded-workspaces": { field: "excludedWorkspaces", in: idsOf("workspaces") },
  },
};

const sentAttributes = attributesOf(agentPoolNoun);

/** An agent pool, which is only a record for runners: Statehouse runs no agents. */
export const agentPoolResource = resource<AgentPool, RequestContext>({
  type: "agent-pools",
  id: ({ id }) => id,
  attributes: (pool, context) => ({
    ...sentAttributes(pool, context),
    "created-at": timestamp(pool.createdAt),
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
