import {
  AdminService,
  type UpdateGeneralSettingsRequestSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/admin";
import { z } from "zod";
import { administeredWorkspaceResource } from "../administered-workspace/resource.ts";
import { generalSettingsResource } from "../general-settings/resource.ts";
import { page } from "../http/paging.ts";
import { choice, text, texts } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { documentBody, optional, section, uncheckedTypeOf } from "../jsonapi/body.ts";
import { type FieldsOf, fieldsIn } from "../jsonapi/noun.ts";
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
    success: [200, one(generalSettingsResource, "settings")],
    failures: [404],
    edition: "admin.general-settings",
    handle: ({ client, caller }) => client(AdminService).getGeneralSettings({}, caller),
  }),
  route({
    method: "PATCH",
    path: "/admin/general-settings",
    summary: "Change the installation's general settings",
    body: documentBody(
      z.object({
        type: uncheckedTypeOf("general-settings"),
        attributes: section(
          fieldsIn<FieldsOf<typeof UpdateGeneralSettingsRequestSchema>>({
            "default-remote-state-access": { field: "defaultRemoteStateAccess", in: z.boolean() },
            "plan-timeout": { field: "planTimeout", in: z.string() },
            "apply-timeout": { field: "applyTimeout", in: z.string() },
          }),
        ),
      }),
    ),
    success: [200, one(generalSettingsResource, "settings")],
    failures: [404, 422],
    edition: "admin.general-settings",
    handle: ({ client, body, caller }) =>
      client(AdminService).updateGeneralSettings(body.data.attributes, caller),
  }),
  route({
    method: "GET",
    path: "/admin/organizations",
    summary: "List all organizations",
    includes: ["owners"],
    query: { page, query: text("q", "Part of the organization's name.") },
    success: [200, list(administeredOrganizationResource, "organizations")],
    failures: [400, 404],
    handle: ({ client, query: { page, query }, caller }) =>
      client(AdminService).listAllOrganizations({ query, ...page }, caller),
  }),
  route({
    method: "GET",
    path: "/admin/workspaces",
    summary: "List the workspaces of all organizations",
    includes: ["organization", "current_run"],
    query: {
      page,
      query: text("q", "Part of the workspace's name."),
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
    success: [200, list(administeredWorkspaceResource, "workspaces")],
    failures: [400, 404],
    handle: ({ client, query: { page, ...filters }, caller }) =>
      client(AdminService).listAllWorkspaces({ ...filters, ...page }, caller),
  }),
  route({
    method: "GET",
    path: organizationPath,
    summary: "Show any organization",
    success: [200, one(administeredOrganizationResource, "organization")],
    failures: [404],
    handle: ({ client, params, caller }) =>
      client(AdminService).getAnyOrganization({ name: params.organizationName }, caller),
  }),
  route({
    method: "PATCH",
    path: organizationPath,
    summary: "Set an organization's plan and its workspace limit",
    body: documentBody(
      z.object({
        type: uncheckedTypeOf("organizations"),
        attributes: section(
          z.object({
            "plan-identifier": optional(z.string()),
            "workspace-limit": z.int().min(0).max(MAX_LIMIT).nullish(),
          }),
        ),
      }),
    ),
    pointers: { plan: "/data/attributes/plan-identifier" },
    success: [200, one(administeredOrganizationResource, "organization")],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) => {
      const { "plan-identifier": plan, "workspace-limit": workspaceLimit } = body.data.attributes;
      return client(AdminService).updateAnyOrganization(
        {
          name: params.organizationName,
          plan,
          workspaceLimit: workspaceLimit ?? undefined,
          withoutWorkspaceLimit: workspaceLimit === null,
        },
        caller,
      );
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
