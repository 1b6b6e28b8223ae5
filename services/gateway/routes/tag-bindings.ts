import { list } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { listBody } from "../jsonapi/body.ts";
import { effectiveTagBindingResource } from "../resources/effective-tag-bindings.ts";
import { tagBindingResource } from "../resources/tag-bindings.ts";
import { tagBindingItem } from "./tag-linkages.ts";

const path = "/workspaces/:workspaceId/tag-bindings";

const pointers = { tagBindings: "/data", "tagBindings[]": "/data/[]/attributes" };

const ofProject = "/projects/:projectId/tag-bindings";

export const tagBindingRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: ofProject,
    summary: "List a project's tag bindings",
    success: [200, list(tagBindingResource)],
    failures: [404],
    handle: async ({ services: { workspaces }, params: { projectId }, caller }) => ({
      items: (await workspaces.tagBindings.listProjectTagBindings({ projectId }, caller))
        .tagBindings,
    }),
  }),
  route({
    method: "PATCH",
    path: ofProject,
    summary: "Add or change tag bindings of a project",
    body: listBody(tagBindingItem),
    pointers,
    success: [200, list(tagBindingResource)],
    failures: [404, 422],
    handle: async ({ services: { workspaces }, params, body, caller }) => ({
      items: (
        await workspaces.tagBindings.updateProjectTagBindings(
          { projectId: params.projectId, tagBindings: body.data },
          caller,
        )
      ).tagBindings,
    }),
  }),
  route({
    method: "GET",
    path: "/projects/:projectId/effective-tag-bindings",
    summary: "List the tag bindings that count for a project: its own, for it inherits none",
    success: [200, list(effectiveTagBindingResource)],
    failures: [404],
    handle: async ({ services: { workspaces }, params: { projectId }, caller }) => ({
      items: (await workspaces.tagBindings.listProjectTagBindings({ projectId }, caller))
        .tagBindings,
    }),
  }),
  route({
    method: "GET",
    path,
    summary: "List a workspace's tag bindings",
    success: [200, list(tagBindingResource)],
    failures: [404],
    handle: async ({ services: { workspaces }, params, caller }) => ({
      items: (
        await workspaces.tagBindings.listWorkspaceTagBindings(
          { workspaceId: params.workspaceId },
          caller,
        )
      ).tagBindings,
    }),
  }),
  route({
    method: "PATCH",
    path,
    summary: "Add or change tag bindings of a workspace",
    body: listBody(tagBindingItem),
    pointers,
    success: [200, list(tagBindingResource)],
    failures: [404, 422],
    handle: async ({ services: { workspaces }, params, body, caller }) => ({
      items: (
        await workspaces.tagBindings.updateWorkspaceTagBindings(
          { workspaceId: params.workspaceId, tagBindings: body.data },
          caller,
        )
      ).tagBindings,
    }),
  }),
  route({
    method: "GET",
    path: "/workspaces/:workspaceId/effective-tag-bindings",
    summary: "List the tag bindings that count for a workspace",
    success: [200, list(effectiveTagBindingResource)],
    failures: [404],
    handle: async ({ services: { workspaces }, params, caller }) => ({
      items: (
        await workspaces.tagBindings.listWorkspaceEffectiveTagBindings(
          { workspaceId: params.workspaceId },
          caller,
        )
      ).tagBindings,
    }),
  }),
];
