import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@statehouse/errors";
import type { AgentPoolSettingsSchema } from "@statehouse/proto/statehouse/workspaces/v1/agent_pool";
import { AgentPoolService } from "@statehouse/proto/statehouse/workspaces/v1/agent_pool";
import { z } from "zod";
import { standing } from "../http/authentication.ts";
import { readPage } from "../http/paging.ts";
import { parameter } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { documentBody, optional, section, typeOf } from "../jsonapi/body.ts";
import { given } from "../jsonapi/given.ts";
import { agentPoolResource } from "../resources/agent-pools.ts";
import { linkages } from "./nullable-linkage.ts";

const bodyWith = <Name extends z.ZodType>(name: Name) =>
  documentBody(
    z.object({
      type: typeOf("agent-pools"),
      attributes: section(z.object({ name, "organization-scoped": optional(z.boolean()) })),
      relationships: section(
        z.object({
          "allowed-workspaces": linkages("workspaces"),
          "allowed-projects": linkages("projects"),
          "excluded-workspaces": linkages("workspaces"),
        }),
      ),
    }),
  );

const createBody = bodyWith(z.string());
const updateBody = bodyWith(optional(z.string()));

const pointers = {
  allowedWorkspaces: "/data/relationships/allowed-workspaces",
  allowedProjects: "/data/relationships/allowed-projects",
  excludedWorkspaces: "/data/relationships/excluded-workspaces",
};

const idList = (ids: string[] | undefined) => ids && { ids };

function settingsOf({
  data,
}: z.infer<typeof updateBody>): MessageInitShape<typeof AgentPoolSettingsSchema> {
  const { attributes, relationships } = data;
  return given({
    name: attributes.name,
    organizationScoped: attributes["organization-scoped"],
    allowedWorkspaces: idList(relationships["allowed-workspaces"]),
    allowedProjects: idList(relationships["allowed-projects"]),
    excludedWorkspaces: idList(relationships["excluded-workspaces"]),
  });
}

const sorts: readonly string[] = ["name", "-name", "created-at", "-created-at"];

function readSort(query: URLSearchParams): string {
  const sort = parameter(query, "sort") ?? "";
  if (sort !== "" && !sorts.includes(sort)) {
    throw badRequest("sort", `sort must be one of ${sorts.join(", ")}.`);
  }
  return sort;
}

/** In the spelling of go-tfe, or that of the public documentation. */
const allowedNames = (query: URLSearchParams) => ({
  allowedWorkspaceName:
    parameter(query, "filter[allowed_workspaces][name]") ??
    parameter(query, "filter[allowed-workspaces][name]") ??
    "",
  allowedProjectName:
    parameter(query, "filter[allowed_projects][name]") ??
    parameter(query, "filter[allowed-projects][name]") ??
    "",
});

const ofOrganization = "/organizations/:organizationName/agent-pools";
const byId = "/agent-pools/:agentPoolId";

export const agentPoolRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: ofOrganization,
    summary: "List an organization's agent pools",
    success: [200, list(agentPoolResource)],
    failures: [400, 404],
    credentials: standing,
    handle: async ({ client, params, query, caller }) => {
      const page = readPage(query);
      const { agentPools, totalCount } = await client(AgentPoolService).listAgentPools(
        {
          organizationName: params.organizationName,
          query: parameter(query, "q") ?? "",
          ...allowedNames(query),
          sort: readSort(query),
          pageNumber: page.number,
          pageSize: page.size,
        },
        caller,
      );
      return { items: agentPools, page, totalCount };
    },
  }),
  route({
    method: "POST",
    path: ofOrganization,
    summary: "Create an agent pool",
    body: createBody,
    pointers,
    success: [201, one(agentPoolResource)],
    failures: [404, 422],
    credentials: standing,
    handle: async ({ client, params, body, caller }) => {
      const { organizationName } = params;
      const settings = settingsOf(body);
      const wanted = { organizationName, settings };
      return (await client(AgentPoolService).createAgentPool(wanted, caller)).agentPool;
    },
  }),
  route({
    method: "GET",
    path: byId,
    summary: "Show an agent pool",
    success: [200, one(agentPoolResource)],
    failures: [404],
    credentials: standing,
    handle: async ({ client, params, caller }) =>
      (await client(AgentPoolService).getAgentPool({ id: params.agentPoolId }, caller)).agentPool,
  }),
  route({
    method: "PATCH",
    path: byId,
    summary: "Update an agent pool",
    body: updateBody,
    pointers,
    success: [200, one(agentPoolResource)],
    failures: [404, 422],
    credentials: standing,
    handle: async ({ client, params, body, caller }) => {
      const wanted = { id: params.agentPoolId, settings: settingsOf(body) };
      return (await client(AgentPoolService).updateAgentPool(wanted, caller)).agentPool;
    },
  }),
  route({
    method: "DELETE",
    path: byId,
    summary: "Delete an agent pool that nothing uses",
    success: [204],
    failures: [404, 409],
    credentials: standing,
    handle: ({ client, params, caller }) =>
      client(AgentPoolService).deleteAgentPool({ id: params.agentPoolId }, caller),
  }),
];
