import { TagBindingService } from "@statehouse/proto/statehouse/workspaces/v1/tag_binding";
import { completeList } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { listBody } from "../jsonapi/body.ts";
import { effectiveTagBindingResource } from "./effective-resource.ts";
import { tagBindingItem } from "./linkages-resource.ts";
import { tagBindingResource } from "./resource.ts";

const pointers = { tagBindings: "/data", "tagBindings[]": "/data/[]/attributes" };

const ofProject = "/projects/:projectId/tag-bindings";
const ofWorkspace = "/workspaces/:workspaceId/tag-bindings";
const relatedToProject = "/projects/:projectId/relationships/tag-bindings";
const relatedToWorkspace = "/workspaces/:workspaceId/relationships/tag-bindings";

const listOfProject = (path: typeof ofProject | typeof relatedToProject) =>
  route({
    method: "GET",
    path,
    summary: "List a project's tag bindings",
    success: [200, completeList(tagBindingResource)],
    failures: [404],
    handle: async ({ client, params: { projectId }, caller }) => ({
      items: (await client(TagBindingService).listProjectTagBindings({ projectId }, caller))
        .tagBindings,
    }),
  });

const listOfWorkspace = (path: typeof ofWorkspace | typeof relatedToWorkspace) =>
  route({
    method: "GET",
    path,
    summary: "List a workspace's tag bindings",
    success: [200, completeList(tagBindingResource)],
    failures: [404],
    handle: async ({ client, params: { workspaceId }, caller }) => ({
      items: (await client(TagBindingService).listWorkspaceTagBindings({ workspaceId }, caller))
        .tagBindings,
    }),
  });

/** The methods that change the relationship `tag-bindings`. PATCH replaces all bindings. Responses have no body. */
const changes = [
  { method: "POST", replacesAll: false, summary: "Add or change tag bindings" },
  { method: "PATCH", replacesAll: true, summary: "Replace all tag bindings" },
] as const;

/** The routes below `/relationships/tag-bindings`, which public clients use in addition to `/tag-bindings`. */
const relationshipRoutes: readonly Route[] = [
  listOfProject(relatedToProject),
  listOfWorkspace(relatedToWorkspace),
  ...changes.flatMap(({ method, replacesAll, summary }) => [
    route({
      method,
      path: relatedToProject,
      summary: `${summary} of a project`,
      body: listBody(tagBindingItem),
      pointers,
      success: [204],
      failures: [404, 422],
      handle: ({ client, params: { projectId }, body, caller }) =>
        client(TagBindingService).updateProjectTagBindings(
          { projectId, tagBindings: body.data, replacesAll },
          caller,
        ),
    }),
    route({
      method,
      path: relatedToWorkspace,
      summary: `${summary} of a workspace`,
      body: listBody(tagBindingItem),
      pointers,
      success: [204],
      failures: [404, 422],
      handle: ({ client, params: { workspaceId }, body, caller }) =>
        client(TagBindingService).updateWorkspaceTagBindings(
          { workspaceId, tagBindings: body.data, replacesAll },
          caller,
        ),
    }),
  ]),
];

export const tagBindingRoutes: readonly Route[] = [
  ...relationshipRoutes,
  listOfProject(ofProject),
  route({
    method: "PATCH",
    path: ofProject,
    summary: "Add or change tag bindings of a project",
    body: listBody(tagBindingItem),
    pointers,
    success: [200, completeList(tagBindingResource)],
    failures: [404, 422],
    handle: async ({ client, params, body, caller }) => ({
      items: (
        await client(TagBindingService).updateProjectTagBindings(
          { projectId: params.projectId, tagBindings: body.data },
          caller,
        )
      ).tagBindings,
    }),
  }),
  route({
    method: "GET",
    path: "/projects/:projectId/effective-tag-bindings",
    summary: "List the effective tag bindings of a project, which are its own",
    success: [200, completeList(effectiveTagBindingResource)],
    failures: [404],
    handle: async ({ client, params: { projectId }, caller }) => ({
      items: (await client(TagBindingService).listProjectTagBindings({ projectId }, caller))
        .tagBindings,
    }),
  }),
  listOfWorkspace(ofWorkspace),
  route({
    method: "PATCH",
    path: ofWorkspace,
    summary: "Add or change tag bindings of a workspace",
    body: listBody(tagBindingItem),
    pointers,
    success: [200, completeList(tagBindingResource)],
    failures: [404, 422],
    handle: async ({ client, params, body, caller }) => ({
      items: (
        await client(TagBindingService).updateWorkspaceTagBindings(
          { workspaceId: params.workspaceId, tagBindings: body.data },
          caller,
        )
      ).tagBindings,
    }),
  }),
  route({
    method: "GET",
    path: "/workspaces/:workspaceId/effective-tag-bindings",
    summary: "List the effective tag bindings of a workspace",
    success: [200, completeList(effectiveTagBindingResource)],
    failures: [404],
    handle: async ({ client, params, caller }) => ({
      items: (
        await client(TagBindingService).listWorkspaceEffectiveTagBindings(
          { workspaceId: params.workspaceId },
          caller,
        )
      ).tagBindings,
    }),
  }),
];
