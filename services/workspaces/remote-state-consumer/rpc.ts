import { pageOf } from "@statehouse/postgres";
import { idsIn } from "@statehouse/postgres/ids";
import type { RemoteStateConsumerService } from "@statehouse/proto/statehouse/workspaces/v1/remote_state_consumer";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import { runId, workspaceId } from "../ids-rpc.ts";
import { workspaceToProto } from "../workspace/message-rpc.ts";
import {
  addRemoteStateConsumers,
  listRemoteStateConsumers,
  mayReadAsConsumer,
  removeRemoteStateConsumers,
  replaceRemoteStateConsumers,
} from "./app.ts";

/** Strings that do not have the form of a workspace id are accepted here and later reported like unknown ids. */
const consumerIds = (texts: readonly string[]) => texts as WorkspaceId[];

export const remoteStateConsumerService = (
  app: App,
): ServiceImpl<typeof RemoteStateConsumerService> => ({
  listRemoteStateConsumers: async (request, { caller }) => {
    const id = workspaceId(request.workspaceId);
    const { workspaces, total } = await listRemoteStateConsumers(app, caller, id, {
      approvedOnly: request.approvedOnly,
      page: pageOf(request),
    });
    return {
      workspaces: workspaces.map(workspaceToProto),
      totalCount: total,
    };
  },
  replaceRemoteStateConsumers: async ({ workspaceId: id, consumerIds: ids }, { caller }) => {
    await replaceRemoteStateConsumers(app, caller, workspaceId(id), consumerIds(ids));
    return {};
  },
  addRemoteStateConsumers: async ({ workspaceId: id, consumerIds: ids }, { caller }) => {
    await addRemoteStateConsumers(app, caller, workspaceId(id), consumerIds(ids));
    return {};
  },
  removeRemoteStateConsumers: async ({ workspaceId: id, consumerIds: ids }, { caller }) => {
    await removeRemoteStateConsumers(app, caller, workspaceId(id), consumerIds(ids));
    return {};
  },
  mayReadAsConsumer: async ({ runId: run, consumerWorkspaceId, workspaceIds }) => ({
    workspaceIds: await mayReadAsConsumer(app, {
      runId: runId(run),
      consumerId: workspaceId(consumerWorkspaceId),
      workspaceIds: idsIn("ws", workspaceIds),
    }),
  }),
});
