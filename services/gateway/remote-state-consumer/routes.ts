import { RemoteStateConsumerService } from "@statehouse/proto/statehouse/workspaces/v1/remote_state_consumer";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { flag } from "../http/query.ts";
import { list } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { listBody, MAX_IDS } from "../jsonapi/body.ts";
import { workspaceResource } from "../workspace/resource.ts";

/** Clients send complete workspace documents; only the ids are used. */
const body = listBody(
  z.object({ type: z.literal("workspaces"), id: z.string().regex(/^[\w-]{1,100}$/) }),
  MAX_IDS,
);

/** The maximum size of a body in bytes, large enough for complete workspace documents. */
const maxBodyBytes = 16 * 1024 * 1024;

const pointers = { consumerIds: "/data", "consumerIds[]": "/data/[]/id" };

const idsOf = ({ data }: z.infer<typeof body>) => data.map(({ id }) => id);

const path = "/workspaces/:workspaceId/relationships/remote-state-consumers";

export const remoteStateConsumerRoutes: readonly Route[] = [
  route({
    method: "GET",
    path,
    summary: "List the workspaces whose runs may read a workspace's state",
    query: {
      page,
      approvedOnly: flag(
        "show_only_configured",
        "If true, only approved consumers, even if the state is shared with all workspaces.",
      ),
    },
    success: [200, list(workspaceResource)],
    failures: [400, 404],
    handle: async ({ client, params, query, caller }) => {
      const { page, approvedOnly = false } = query;
      const found = await client(RemoteStateConsumerService).listRemoteStateConsumers(
        {
          workspaceId: params.workspaceId,
          approvedOnly,
          pageNumber: page.number,
          pageSize: page.size,
        },
        caller,
      );
      return { items: found.workspaces, page, totalCount: found.totalCount };
    },
  }),
  route({
    method: "PATCH",
    path,
    summary: "Replace a workspace's remote state consumers",
    body,
    maxBodyBytes,
    pointers,
    success: [204],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) =>
      client(RemoteStateConsumerService).replaceRemoteStateConsumers(
        { workspaceId: params.workspaceId, consumerIds: idsOf(body) },
        caller,
      ),
  }),
  route({
    method: "POST",
    path,
    summary: "Add remote state consumers to a workspace",
    body,
    maxBodyBytes,
    pointers,
    success: [204],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) =>
      client(RemoteStateConsumerService).addRemoteStateConsumers(
        { workspaceId: params.workspaceId, consumerIds: idsOf(body) },
        caller,
      ),
  }),
  route({
    method: "DELETE",
    path,
    summary: "Remove remote state consumers from a workspace",
    body,
    maxBodyBytes,
    pointers,
    success: [204],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) =>
      client(RemoteStateConsumerService).removeRemoteStateConsumers(
        { workspaceId: params.workspaceId, consumerIds: idsOf(body) },
        caller,
      ),
  }),
];
