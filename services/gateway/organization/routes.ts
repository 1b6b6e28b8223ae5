import { OrganizationService } from "@statehouse/proto/statehouse/workspaces/v1/organization";
import { optionalPage } from "../http/paging.ts";
import { text } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { bodyOf } from "../jsonapi/noun.ts";
import { organizationNoun, organizationResource } from "./resource.ts";

export const organizationRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/organizations",
    summary: "Create an organization",
    ...bodyOf(organizationNoun, ["name"]),
    validatesOnly: true,
    success: [201, one(organizationResource, "organization")],
    failures: [404, 422, 503],
    credentials: ["user"],
    handle: ({ client, body, validateOnly, caller }) => {
      const { name = "", ...settings } = body;
      return client(OrganizationService).createOrganization(
        { name, settings, validateOnly },
        caller,
      );
    },
  }),
  route({
    method: "GET",
    path: "/organizations",
    summary: "List the caller's organizations",
    query: {
      page: optionalPage,
      query: text("q", "Part of the organization's name or of its e-mail address."),
      name: text("q[name]", "Part of the organization's name."),
      email: text("q[email]", "Part of the organization's e-mail address."),
    },
    success: [200, list(organizationResource, "organizations")],
    failures: [400],
    // Without paging parameters the list is complete: clients request all organizations and search them by name.
    handle: ({ client, query: { page, ...filters }, caller }) =>
      client(OrganizationService).listOrganizations({ ...filters, ...page }, caller),
  }),
  route({
    method: "GET",
    path: "/organizations/:organizationName",
    summary: "Show an organization",
    includes: ["default_project", "entitlement_set"],
    success: [200, one(organizationResource, "organization")],
    failures: [400, 404],
    handle: ({ client, params, caller }) =>
      client(OrganizationService).getOrganization({ name: params.organizationName }, caller),
  }),
  // Public clients use both PATCH and PUT. With either method, attributes that the body does not contain keep their
  // values.
  ...(["PATCH", "PUT"] as const).map((method) =>
    route({
      method,
      path: "/organizations/:organizationName",
      summary: "Update an organization",
      ...bodyOf(organizationNoun),
      validatesOnly: true,
      success: [200, one(organizationResource, "organization")],
      failures: [404, 422, 503],
      handle: ({ client, params, body, validateOnly, caller }) => {
        const { name: newName, ...settings } = body;
        const request = { name: params.organizationName, newName, settings, validateOnly };
        return client(OrganizationService).updateOrganization(request, caller);
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
