import type { JsonObject } from "@bufbuild/protobuf";
import {
  type TeamAccess,
  TeamAccessService,
} from "@statehouse/proto/statehouse/access/v1/team_access";
import { z } from "zod";
import { brandNames } from "../brand-names-resource.ts";
import { page } from "../http/paging.ts";
import { requiredText, text } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import {
  type ParamsOf,
  type RequestContext,
  type Route,
  routeForLongLivedCredentials,
} from "../http/route.ts";
import {
  documentBody,
  mapOf,
  optional,
  requiredLinkage,
  section,
  typeOf,
  uncheckedTypeOf,
} from "../jsonapi/body.ts";
import type { Pointers } from "../jsonapi/pointers.ts";
import type { CompiledResource } from "../jsonapi/resource.ts";
import { bothSpellings } from "../jsonapi/spelling.ts";
import { permissionsOf, permissionValue } from "../permission-values-routes.ts";
import {
  teamProjectResource,
  teamWorkspaceResource,
  workspaceAttributeOf,
  workspacePermissions,
} from "./resource.ts";

/** The differences between team access to projects and to workspaces. */
interface Kind<Path extends string, ById extends string, Attributes> {
  targetType: "project" | "workspace";
  path: Path;
  byId: ById;
  idIn: (params: ParamsOf<ById>) => string;
  resource: CompiledResource<TeamAccess, RequestContext>;
  includes: readonly string[];
  /** The type of a create request, which the specification demands for projects only. */
  createType: z.ZodType;
  /** The attributes of a create request, which requires the access level. */
  createAttributes: z.ZodType<Attributes & { access: string }>;
  /** The attributes of an update request. */
  updateAttributes: z.ZodType<Attributes & { access: string | undefined }>;
  permissionsIn: (attributes: Attributes) => JsonObject;
  pointers: Pointers;
}

const teamAccessRoutesOf = <Path extends string, ById extends string, Attributes>({
  targetType,
  path,
  byId,
  idIn,
  resource,
  includes,
  createType,
  createAttributes,
  updateAttributes,
  permissionsIn,
  pointers,
}: Kind<Path, ById, Attributes>): readonly Route[] => {
  return [
    routeForLongLivedCredentials({
      method: "GET",
      path,
      summary: `List the teams that have access to a ${targetType}`,
      includes,
      query: {
        page,
        targetId: requiredText(`filter[${targetType}][id]`, `The id of the ${targetType}.`),
        teamId: text("filter[team][id]", "Only the access of this team."),
      },
      success: [200, list(resource, "teamAccess")],
      failures: [400, 404],
      handle: ({ client, query: { page, ...filters }, caller }) =>
        client(TeamAccessService).listTeamAccess({ targetType, ...filters, ...page }, caller),
    }),
    routeForLongLivedCredentials({
      method: "POST",
      path,
      summary: `Give a team access to a ${targetType}`,
      body: documentBody(
        z.object({
          type: createType,
          attributes: section(createAttributes),
          relationships: section(
            z.object({
              [targetType]: requiredLinkage(`${targetType}s`),
              team: requiredLinkage("teams"),
            }),
          ),
        }),
      ),
      pointers,
      success: [200, one(resource, "teamAccess")],
      failures: [404, 422],
      handle: ({ client, body: { data }, caller }) => {
        const { team: teamId = "", [targetType]: targetId = "" } = data.relationships;
        const { access } = data.attributes;
        const permissions = permissionsIn(data.attributes);
        return client(TeamAccessService).createTeamAccess(
          { teamId, targetType, targetId, access, permissions },
          caller,
        );
      },
    }),
    routeForLongLivedCredentials({
      method: "GET",
      path: byId,
      summary: `Show a team's access to a ${targetType}`,
      includes,
      success: [200, one(resource, "teamAccess")],
      failures: [400, 404],
      handle: ({ client, params, caller }) =>
        client(TeamAccessService).getTeamAccess({ targetType, id: idIn(params) }, caller),
    }),
    routeForLongLivedCredentials({
      method: "PATCH",
      path: byId,
      summary: `Change a team's access to a ${targetType}`,
      body: documentBody(
        z.object({ type: uncheckedTypeOf(resource.type), attributes: section(updateAttributes) }),
      ),
      pointers,
      success: [200, one(resource, "teamAccess")],
      failures: [404, 422],
      handle: ({ client, params, body, caller }) => {
        const { attributes } = body.data;
        const permissions = permissionsIn(attributes);
        return client(TeamAccessService).updateTeamAccess(
          { targetType, id: idIn(params), access: attributes.access, permissions },
          caller,
        );
      },
    }),
    routeForLongLivedCredentials({
      method: "DELETE",
      path: byId,
      summary: `Remove a team's access to a ${targetType}`,
      success: [204],
      failures: [404],
      handle: ({ client, params, caller }) =>
        client(TeamAccessService).deleteTeamAccess({ targetType, id: idIn(params) }, caller),
    }),
  ];
};

const permissions = mapOf(permissionValue);

const projectAttributes = z.object({
  access: z.string(),
  "project-access": optional(permissions),
  "workspace-access": optional(bothSpellings(brandNames, permissions)),
});

type ProjectAttributes = Omit<z.infer<typeof projectAttributes>, "access">;

/** Declares the attributes of workspace access. Every attribute except the level is read as a permission. */
const workspaceAttributes = <Access extends z.ZodType>(access: Access) =>
  bothSpellings(brandNames, z.object({ access }).catchall(permissionValue));

const permissionsByAttribute = new Map<string, string>(
  workspacePermissions.map(([permission, attribute]) => [attribute, permission]),
);

const pointers = { teamId: "/data/relationships/team" };

export const teamProjectRoutes = teamAccessRoutesOf({
  targetType: "project",
  path: "/team-projects",
  byId: "/team-projects/:teamProjectId",
  idIn: ({ teamProjectId }) => teamProjectId,
  resource: teamProjectResource,
  includes: ["team", "project"],
  createType: typeOf("team-projects"),
  createAttributes: projectAttributes,
  updateAttributes: projectAttributes.extend({ access: optional(z.string()) }),
  permissionsIn: (attributes: ProjectAttributes) => ({
    ...permissionsOf("project-access.", attributes["project-access"]),
    ...permissionsOf("workspace-access.", attributes["workspace-access"]),
  }),
  pointers: {
    ...pointers,
    "permissions[]": (name) => `/data/attributes/${name.replace(".", "/")}`,
  },
});

export const teamWorkspaceRoutes = teamAccessRoutesOf({
  targetType: "workspace",
  path: "/team-workspaces",
  byId: "/team-workspaces/:teamWorkspaceId",
  idIn: ({ teamWorkspaceId }) => teamWorkspaceId,
  resource: teamWorkspaceResource,
  includes: ["team"],
  createType: uncheckedTypeOf("team-workspaces"),
  createAttributes: workspaceAttributes(z.string()),
  updateAttributes: workspaceAttributes(optional(z.string())),
  // Unknown attributes keep their names, so that the access service refuses them.
  permissionsIn: ({ access: _, ...attributes }: Record<string, unknown>) =>
    permissionsOf(
      "",
      Object.fromEntries(
        Object.entries(attributes).map(([name, value]) => [
          permissionsByAttribute.get(name) ?? name,
          value,
        ]),
      ),
    ),
  pointers: {
    ...pointers,
    "permissions[]": (name) => `/data/attributes/${workspaceAttributeOf(name)}`,
  },
});
