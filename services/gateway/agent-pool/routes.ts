import { AgentPoolService } from "@statehouse/proto/statehouse/workspaces/v1/agent_pool";
import { page } from "../http/paging.ts";
import { choice, text } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, routeForLongLivedCredentials } from "../http/route.ts";
import { bodyOf } from "../jsonapi/noun.ts";
import { agentPoolNoun, agentPoolResource } from "./resource.ts";

/**
 * The filters that name the workspace or project that may use a pool. Each filter has two names: that of go-tfe, and
 * that of the public documentation.
 */
const allowedNames = {
  allowedWorkspaceName: text(
    ["filter[allowed_workspaces][name]", "filter[allowed-workspaces][name]"],
    "Only agent pools that the workspace with this name may use.",
  ),
  allowedProjectName: text(
    ["filter[allowed_projects][name]", "filter[allowed-projects][name]"],
    "Only agent pools that the project with this name may use.",
  ),
};

const ofOrganization = "/organizations/:organizationName/agent-pools";
const byId = "/agent-pools/:agentPoolId";

export const agentPoolRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "GET",
    path: ofOrganization,
    summary: "List an organization's agent pools",
    query: {
      page,
      query: text("q", "Part of the agent pool's name."),
      ...allowedNames,
      sort: choice(
        "sort",
        ["name", "-name", "created-at", "-created-at"],
        "The order of the list.",
      ),
    },
    success: [200, list(agentPoolResource, "agentPools")],
    failures: [400, 404],
    handle: ({ client, params, query: { page, ...filters }, caller }) =>
      client(AgentPoolService).listAgentPools({ ...params, ...filters, ...page }, caller),
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: ofOrganization,
    summary: "Create an agent pool",
    ...bodyOf(agentPoolNoun, ["name"]),
    success: [201, one(agentPoolResource, "agentPool")],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) =>
      client(AgentPoolService).createAgentPool(
        { organizationName: params.organizationName, settings: body },
        caller,
      ),
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path: byId,
    summary: "Show an agent pool",
    success: [200, one(agentPoolResource, "agentPool")],
    failures: [404],
    handle: ({ client, params, caller }) =>
      client(AgentPoolService).getAgentPool({ id: params.agentPoolId }, caller),
  }),
  routeForLongLivedCredentials({
    method: "PATCH",
    path: byId,
    summary: "Update an agent pool",
    ...bodyOf(agentPoolNoun),
    success: [200, one(agentPoolResource, "agentPool")],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) =>
      client(AgentPoolService).updateAgentPool({ id: params.agentPoolId, settings: body }, caller),
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path: byId,
    summary: "Delete an agent pool that nothing uses",
    success: [204],
    failures: [404, 409],
    handle: ({ client, params, caller }) =>
      client(AgentPoolService).deleteAgentPool({ id: params.agentPoolId }, caller),
  }),
];
