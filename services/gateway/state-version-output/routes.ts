import { StateVersionOutputService } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { optionalPage, page, wholePage } from "../http/paging.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { stateVersionOutputResource } from "./resource.ts";

export const stateVersionOutputRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/state-versions/:stateVersionId/outputs",
    summary: "List a state version's outputs",
    query: { page },
    success: [200, list(stateVersionOutputResource)],
    failures: [400, 404, 503],
    handle: async ({ client, params, query, caller }) => {
      const { page } = query;
      const { stateVersionId } = params;
      const { outputs: items, totalCount } = await client(
        StateVersionOutputService,
      ).listStateVersionOutputs(
        { stateVersionId, pageNumber: page.number, pageSize: page.size },
        caller,
      );
      return { items, totalCount, page };
    },
  }),
  route({
    method: "GET",
    path: "/state-version-outputs/:stateVersionOutputId",
    summary: "Show an output, even if it is sensitive",
    success: [200, one(stateVersionOutputResource)],
    failures: [404],
    handle: async ({ client, params, caller }) =>
      (
        await client(StateVersionOutputService).getStateVersionOutput(
          { id: params.stateVersionOutputId },
          caller,
        )
      ).output,
  }),
  route({
    method: "GET",
    path: "/workspaces/:workspaceId/current-state-version-outputs",
    summary: "List the outputs of a workspace's current state",
    query: { page: optionalPage },
    success: [200, list(stateVersionOutputResource)],
    failures: [400, 404, 503],
    handle: async ({ client, params, query, caller }) => {
      // Without paging parameters the list is complete, because the CLI's output command makes only one request.
      const { page } = query;
      const { workspaceId } = params;
      const { outputs: items, totalCount } = await client(
        StateVersionOutputService,
      ).listCurrentOutputs(
        { workspaceId, pageNumber: page?.number ?? 0, pageSize: page?.size ?? 0 },
        caller,
      );
      return { items, totalCount, page: page ?? wholePage(totalCount) };
    },
  }),
];
