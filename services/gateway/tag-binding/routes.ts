import { TagBindingService } from "@statehouse/proto/statehouse/workspaces/v1/tag_binding";
import { completeList } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { listBody } from "../jsonapi/body.ts";
import { effectiveTagBindingResource } from "./effective-resource.ts";
import { tagBindingItem } from "./linkages-resource.ts";
import { tagBindingResource } from "./resource.ts";

const body = listBody(tagBindingItem);
const pointers = { tagBindings: "/data", "tagBindings[]": "/data/[]/attributes" };

/** The objects that have tag bindings, with the methods of the service for their bindings. */
const owners = {
  project: {
    path: "/projects/:projectId",
    list: "listProjectTagBindings",
    update: "updateProjectTagBindings",
    listEffective: "listProjectTagBindings",
    effective: "a project, which are its own",
  },
  workspace: {
    path: "/workspaces/:workspaceId",
    list: "listWorkspaceTagBindings",
    update: "updateWorkspaceTagBindings",
    listEffective: "listWorkspaceEffectiveTagBindings",
    effective: "a workspace",
  },
} as const;
type Owner = keyof typeof owners;

const listRoute = (owner: Owner, tail: "tag-bindings" | "relationships/tag-bindings"): Route =>
  route({
    method: "GET",
    path: `${owners[owner].path}/${tail}`,
    summary: `List a ${owner}'s tag bindings`,
    success: [200, completeList(tagBindingResource, "tagBindings")],
    failures: [404],
    handle: async ({ client, params, caller }) =>
      client(TagBindingService)[owners[owner].list](params, caller),
  });

/** The methods that change the relationship `tag-bindings`. PATCH replaces all bindings. Responses have no body. */
const changes = [
  { method: "POST", replacesAll: false, summary: "Add or change tag bindings" },
  { method: "PATCH", replacesAll: true, summary: "Replace all tag bindings" },
] as const;

/** The routes below `/relationships/tag-bindings`, which public clients use in addition to `/tag-bindings`. */
const relationshipRoutes = (owner: Owner): Route[] => [
  listRoute(owner, "relationships/tag-bindings"),
  ...changes.map(({ method, replacesAll, summary }) =>
    route({
      method,
      path: `${owners[owner].path}/relationships/tag-bindings`,
      summary: `${summary} of a ${owner}`,
      body,
      pointers,
      success: [204],
      failures: [404, 422],
      handle: async ({ client, params, body, caller }) =>
        client(TagBindingService)[owners[owner].update](
          { ...params, tagBindings: body.data, replacesAll },
          caller,
        ),
    }),
  ),
];

const routesOf = (owner: Owner): Route[] => [
  listRoute(owner, "tag-bindings"),
  route({
    method: "PATCH",
    path: `${owners[owner].path}/tag-bindings`,
    summary: `Add or change tag bindings of a ${owner}`,
    body,
    pointers,
    success: [200, completeList(tagBindingResource, "tagBindings")],
    failures: [404, 422],
    handle: async ({ client, params, body, caller }) =>
      client(TagBindingService)[owners[owner].update](
        { ...params, tagBindings: body.data },
        caller,
      ),
  }),
  route({
    method: "GET",
    path: `${owners[owner].path}/effective-tag-bindings`,
    summary: `List the effective tag bindings of ${owners[owner].effective}`,
    success: [200, completeList(effectiveTagBindingResource, "tagBindings")],
    failures: [404],
    handle: async ({ client, params, caller }) =>
      client(TagBindingService)[owners[owner].listEffective](params, caller),
  }),
];

export const tagBindingRoutes: readonly Route[] = [
  ...relationshipRoutes("project"),
  ...relationshipRoutes("workspace"),
  ...routesOf("project"),
  ...routesOf("workspace"),
];
