import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres";
import { idsIn } from "@statehouse/postgres/ids";
import type {
  AgentPoolSchema,
  AgentPoolService,
  AgentPoolSettings as SettingsMessage,
} from "@statehouse/proto/statehouse/workspaces/v1/agent_pool";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { agentPoolId, projectId, workspaceId } from "../ids-rpc.ts";
import {
  type AgentPoolInput,
  batchGetAgentPools,
  createAgentPool,
  deleteAgentPool,
  getAgentPool,
  listAgentPools,
  updateAgentPool,
} from "./app.ts";
import type { AgentPoolView } from "./domain.ts";

export const agentPoolService = (app: App): ServiceImpl<typeof AgentPoolService> => ({
  createAgentPool: async ({ organizationName, settings }, { caller }) => ({
    agentPool: agentPoolToProto(
      await createAgentPool(app, caller, { organizationName, ...inputOf(settings) }),
    ),
  }),
  getAgentPool: async ({ id }, { caller }) => ({
    agentPool: agentPoolToProto(await getAgentPool(app, caller, agentPoolId(id))),
  }),
  listAgentPools: async ({ sort, ...request }, { caller }) => {
    const { rows, total } = await listAgentPools(app, caller, {
      ...request,
      sort: sort.endsWith("created-at") ? "created-at" : "name",
      descending: sort.startsWith("-"),
      page: pageOf(request),
    });
    return { agentPools: rows.map(agentPoolToProto), totalCount: total };
  },
  batchGetAgentPools: async ({ ids }, { caller }) => {
    const agentPools = await batchGetAgentPools(app, caller, idsIn("apool", ids));
    return { agentPools: agentPools.map(agentPoolToProto) };
  },
  updateAgentPool: async ({ id, settings }, { caller }) => ({
    agentPool: agentPoolToProto(
      await updateAgentPool(app, caller, { id: agentPoolId(id), ...inputOf(settings) }),
    ),
  }),
  deleteAgentPool: async ({ id }, { caller }) => {
    await deleteAgentPool(app, caller, agentPoolId(id));
    return {};
  },
});

function inputOf(message: SettingsMessage | undefined): AgentPoolInput {
  const { allowedWorkspaces, allowedProjects, excludedWorkspaces } = message ?? {};
  return {
    settings: { name: message?.name, organizationScoped: message?.organizationScoped },
    relations: {
      ...(allowedWorkspaces ? { allowedWorkspaceIds: allowedWorkspaces.ids.map(workspaceId) } : {}),
      ...(allowedProjects ? { allowedProjectIds: allowedProjects.ids.map(projectId) } : {}),
      ...(excludedWorkspaces
        ? { excludedWorkspaceIds: excludedWorkspaces.ids.map(workspaceId) }
        : {}),
    },
  };
}

const agentPoolToProto = ({
  createdAt,
  ...pool
}: AgentPoolView): MessageInitShape<typeof AgentPoolSchema> => ({
  ...pool,
  createdAt: timestampFromDate(createdAt),
});
