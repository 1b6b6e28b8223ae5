import { StateVersionOutputService } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { optionalPage, page } from "../http/paging.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { stateVersionOutputResource } from "./resource.ts";

export const stateVersionOutputRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/state-versions/:stateVersionId/outputs",
    summary: "List a state version's outputs",
    query: { page },
    success: [200, list(stateVersionOutputResource, "outputs")],
    failures: [400, 404, 503],
    handle: ({ client, params, query: { page }, caller }) =>
      client(StateVersionOutputService).listStateVersionOutputs({ ...params, ...page }, caller),
  }),
  route({
    method: "GET",
    path: "/state-version-outputs/:stateVersionOutputId",
    summary: "Show an output, even if it is sensitive",
    success: [200, one(stateVersionOutputResource, "output")],
    failures: [404],
    handle: ({ client, params, caller }) =>
      client(StateVersionOutputService).getStateVersionOutput(
        { id: params.stateVersionOutputId },
        caller,
      ),
  }),
  route({
    method: "GET",
    path: "/workspaces/:workspaceId/current-state-version-outputs",
    summary: "List the outputs of a workspace's current state",
    query: { page: optionalPage },
    success: [200, list(stateVersionOutputResource, "outputs")],
    failures: [400, 404, 503],
    // Without paging parameters the list is complete, because the CLI's output command makes only one request.
    handle: ({ client, params, query: { page }, caller }) =>
      client(StateVersionOutputService).listCurrentOutputs({ ...params, ...page }, caller),
  }),
];
