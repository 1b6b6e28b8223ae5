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

const path = "/workspaces/:workspaceId/relationships/remote-state-consumers";

/** The methods that change the list, each with the method of the service. */
const changes = [
  {
    method: "PATCH",
    summary: "Replace a workspace's remote state consumers",
    call: "replaceRemoteStateConsumers",
  },
  {
    method: "POST",
    summary: "Add remote state consumers to a workspace",
    call: "addRemoteStateConsumers",
  },
  {
    method: "DELETE",
    summary: "Remove remote state consumers from a workspace",
    call: "removeRemoteStateConsumers",
  },
] as const;

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
    success: [200, list(workspaceResource, "workspaces")],
    failures: [400, 404],
    handle: ({ client, params, query: { page, approvedOnly = false }, caller }) =>
      client(RemoteStateConsumerService).listRemoteStateConsumers(
        { ...params, approvedOnly, ...page },
        caller,
      ),
  }),
  ...changes.map(({ method, summary, call }) =>
    route({
      method,
      path,
      summary,
      body,
      maxBodyBytes,
      pointers,
      success: [204],
      failures: [404, 422],
      handle: async ({ client, params, body, caller }) =>
        client(RemoteStateConsumerService)[call](
          { ...params, consumerIds: body.data.map(({ id }) => id) },
          caller,
        ),
    }),
  ),
];
