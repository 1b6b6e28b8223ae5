import type {
  AgentPool,
  AgentPoolSettingsSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/agent_pool";
import { AgentPoolService } from "@statehouse/proto/statehouse/workspaces/v1/agent_pool";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { linkages } from "../jsonapi/body.ts";
import { attributesOf, type FieldsOf, type Noun } from "../jsonapi/noun.ts";
import { related, toManyOf, toOneOf } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { time } from "../jsonapi/shape.ts";
import { timestamp } from "../timestamps-resource.ts";

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

/** An agent pool. Statehouse only stores it for runners and runs no agents itself. */
export const agentPoolResource = resource<AgentPool, RequestContext>({
  type: "agent-pools",
  id: ({ id }) => id,
  attributes: {
    ...attributesOf(agentPoolNoun),
    "created-at": [time, ({ createdAt }) => timestamp(createdAt)],
    "agent-count": [z.int(), () => 0],
  },
  relationships: {
    organization: toOneOf({
      type: "organizations",
      idOf: ({ organizationName }) => organizationName,
      link: ({ organizationName }) => `/api/v2/organizations/${organizationName}`,
    }),
    workspaces: toManyOf({ type: "workspaces", idsOf: ({ workspaceIds }) => workspaceIds }),
    "allowed-workspaces": toManyOf({
      type: "workspaces",
      idsOf: ({ allowedWorkspaceIds }) => allowedWorkspaceIds,
    }),
    "allowed-projects": toManyOf({
      type: "projects",
      idsOf: ({ allowedProjectIds }) => allowedProjectIds,
    }),
    "excluded-workspaces": toManyOf({
      type: "workspaces",
      idsOf: ({ excludedWorkspaceIds }) => excludedWorkspaceIds,
    }),
  },
  links: ({ id }) => ({ self: `/api/v2/agent-pools/${id}` }),
  loadMany: async (ids, { client, caller }) =>
    (await client(AgentPoolService).batchGetAgentPools({ ids: [...ids] }, caller)).agentPools,
});

/**
 * An agent pool in the form that documents of workspaces include, without linkages. Organizations and projects link to
 * their default pool, and go-tfe follows links between included resources until its stack overflows.
 */
export const includedAgentPoolResource = resource<AgentPool, RequestContext>({
  ...agentPoolResource,
  variant: "included",
  relationships: {
    organization: related(({ organizationName }) => `/api/v2/organizations/${organizationName}`),
  },
});
