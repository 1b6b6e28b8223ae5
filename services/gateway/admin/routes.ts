import { AdminService } from "@statehouse/proto/statehouse/workspaces/v1/admin";
import { z } from "zod";
import { administeredWorkspaceResource } from "../administered-workspace/resource.ts";
import { generalSettingsResource } from "../general-settings/resource.ts";
import { page } from "../http/paging.ts";
import { choice, text, texts } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { documentBody, optional, section, typeOf } from "../jsonapi/body.ts";
import { omitUndefined } from "../jsonapi/omit-undefined.ts";
import { administeredOrganizationResource } from "../organization/resource.ts";

/** The largest workspace limit that can be set: the largest value of the column, a signed 32-bit integer. */
const MAX_LIMIT = 2 ** 31 - 1;

const organizationPath = "/admin/organizations/:organizationName";

/** Routes for administrators. All other callers receive 404. */
export const adminRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/admin/general-settings",
    summary: "Show the installation's general settings",
    success: [200, one(generalSettingsResource)],
    failures: [404],
    edition: "admin.general-settings",
    handle: async ({ client, caller }) =>
      (await client(AdminService).getGeneralSettings({}, caller)).settings,
  }),
  route({
    method: "PATCH",
    path: "/admin/general-settings",
    summary: "Change the installation's general settings",
    body: documentBody(
      z.object({
        type: optional(typeOf("general-settings")),
        attributes: section(
          z.object({
            "default-remote-state-access": optional(z.boolean()),
            "plan-timeout": optional(z.string()),
            "apply-timeout": optional(z.string()),
          }),
        ),
      }),
    ),
    success: [200, one(generalSettingsResource)],
    failures: [404, 422],
    edition: "admin.general-settings",
    handle: async ({ client, body, caller }) => {
      const { attributes } = body.data;
      const request = omitUndefined({
        defaultRemoteStateAccess: attributes["default-remote-state-access"],
        planTimeout: attributes["plan-timeout"],
        applyTimeout: attributes["apply-timeout"],
      });
      return (await client(AdminService).updateGeneralSettings(request, caller)).settings;
    },
  }),
  route({
    method: "GET",
    path: "/admin/organizations",
    summary: "List all organizations",
    query: { page, q: text("q", "Part of the organization's name.") },
    success: [200, list(administeredOrganizationResource)],
    failures: [400, 404],
    handle: async ({ client, query, caller }) => {
      const { page } = query;
      const { organizations, totalCount } = await client(AdminService).listAllOrganizations(
        { query: query.q, pageNumber: page.number, pageSize: page.size },
        caller,
      );
      return { items: organizations, page, totalCount };
    },
  }),
  route({
    method: "GET",
    path: "/admin/workspaces",
    summary: "List the workspaces of all organizations",
    includes: ["organization", "current_run"],
    query: {
      page,
      q: text("q", "Part of the workspace's name."),
      currentRunStatuses: texts(
        "filter[current_run][status]",
        "Only workspaces whose current run has one of these statuses.",
      ),
      sort: choice(
        "sort",
        ["name", "-name", "current-run.created-at", "-current-run.created-at"],
        "The order of the list.",
      ),
    },
    success: [200, list(administeredWorkspaceResource)],
    failures: [400, 404],
    handle: async ({ client, query, caller }) => {
      const { page, q, currentRunStatuses, sort } = query;
      const { workspaces, totalCount } = await client(AdminService).listAllWorkspaces(
        { query: q, currentRunStatuses, sort, pageNumber: page.number, pageSize: page.size },
        caller,
      );
      return { items: workspaces, page, totalCount };
    },
  }),
  route({
    method: "GET",
    path: organizationPath,
    summary: "Show any organization",
    success: [200, one(administeredOrganizationResource)],
    failures: [404],
    handle: async ({ client, params, caller }) =>
      (await client(AdminService).getAnyOrganization({ name: params.organizationName }, caller))
        .organization,
  }),
  route({
    method: "PATCH",
    path: organizationPath,
    summary: "Set an organization's plan and its workspace limit",
    body: documentBody(
      z.object({
        type: typeOf("organizations"),
        attributes: section(
          z.object({
            "plan-identifier": optional(z.string()),
            "workspace-limit": z.int().min(0).max(MAX_LIMIT).nullish(),
          }),
        ),
      }),
    ),
    pointers: { plan: "/data/attributes/plan-identifier" },
    success: [200, one(administeredOrganizationResource)],
    failures: [404, 422],
    handle: async ({ client, params, body, caller }) => {
      const { "plan-identifier": plan, "workspace-limit": workspaceLimit } = body.data.attributes;
      const request = {
        name: params.organizationName,
        ...omitUndefined({ plan, workspaceLimit: workspaceLimit ?? undefined }),
        withoutWorkspaceLimit: workspaceLimit === null,
      };
      return (await client(AdminService).updateAnyOrganization(request, caller)).organization;
    },
  }),
  route({
    method: "DELETE",
    path: organizationPath,
    summary: "Delete any organization with everything in it",
    success: [204],
    failures: [404, 503],
    credentials: ["user"],
    handle: ({ client, params, caller }) =>
      client(AdminService).deleteAnyOrganization({ name: params.organizationName }, caller),
  }),
];
