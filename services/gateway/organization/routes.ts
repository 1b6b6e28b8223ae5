import { OrganizationService } from "@statehouse/proto/statehouse/workspaces/v1/organization";
import { optionalPage, wholePage } from "../http/paging.ts";
import { text } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { bodyOf } from "../jsonapi/noun.ts";
import { omitUndefined } from "../jsonapi/omit-undefined.ts";
import { organizationNoun, organizationResource } from "./resource.ts";

const createBody = bodyOf(organizationNoun, ["name"]);
const updateBody = bodyOf(organizationNoun);

export const organizationRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/organizations",
    summary: "Create an organization",
    ...createBody,
    validatesOnly: true,
    success: [201, one(organizationResource)],
    failures: [404, 422, 503],
    credentials: ["user"],
    handle: async ({ client, body, validateOnly, caller }) => {
      const { name = "", ...settings } = body;
      const request = { name, settings, validateOnly };
      return (await client(OrganizationService).createOrganization(request, caller)).organization;
    },
  }),
  route({
    method: "GET",
    path: "/organizations",
    summary: "List the caller's organizations",
    query: {
      page: optionalPage,
      q: text("q", "Part of the organization's name or of its e-mail address."),
      name: text("q[name]", "Part of the organization's name."),
      email: text("q[email]", "Part of the organization's e-mail address."),
    },
    success: [200, list(organizationResource)],
    failures: [400],
    handle: async ({ client, query, caller }) => {
      // Without paging parameters the list is complete: clients request all organizations and search them by name.
      const { page } = query;
      const { organizations, totalCount } = await client(OrganizationService).listOrganizations(
        {
          query: query.q,
          name: query.name,
          email: query.email,
          pageNumber: page?.number ?? 0,
          pageSize: page?.size ?? 0,
        },
        caller,
      );
      return { items: organizations, page: page ?? wholePage(totalCount), totalCount };
    },
  }),
  route({
    method: "GET",
    path: "/organizations/:organizationName",
    summary: "Show an organization",
    includes: ["default_project", "entitlement_set"],
    success: [200, one(organizationResource)],
    failures: [400, 404],
    handle: async ({ client, params, caller }) =>
      (await client(OrganizationService).getOrganization({ name: params.organizationName }, caller))
        .organization,
  }),
  // Public clients use both PATCH and PUT. With either method, attributes that the body does not contain keep their
  // values.
  ...(["PATCH", "PUT"] as const).map((method) =>
    route({
      method,
      path: "/organizations/:organizationName",
      summary: "Update an organization",
      ...updateBody,
      validatesOnly: true,
      success: [200, one(organizationResource)],
      failures: [404, 422, 503],
      handle: async ({ client, params, body, validateOnly, caller }) => {
        const { name: newName, ...settings } = body;
        const changes = { ...omitUndefined({ newName }), settings, validateOnly };
        const request = { name: params.organizationName, ...changes };
        return (await client(OrganizationService).updateOrganization(request, caller)).organization;
      },
    }),
  ),
  route({
    method: "DELETE",
    path: "/organizations/:organizationName",
    summary: "Delete an organization with everything in it",
    success: [204],
    failures: [404, 503],
    handle: ({ client, params, caller }) =>
      client(OrganizationService).deleteOrganization({ name: params.organizationName }, caller),
  }),
];
