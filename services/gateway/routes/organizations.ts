import { z } from "zod";
import { readOptionalPage, wholePage } from "../http/paging.ts";
import { parameter } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { documentBody, optional, section, typeOf } from "../jsonapi/body.ts";
import { organizationResource } from "../resources/organizations.ts";

export const organizationRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/organizations",
    summary: "Create an organization",
    body: documentBody(
      z.object({
        type: typeOf("organizations"),
        attributes: section(z.object({ name: z.string(), email: optional(z.string()) })),
      }),
    ),
    success: [201, one(organizationResource)],
    failures: [422, 503],
    credentials: ["user"],
    handle: async ({ services: { workspaces }, body, caller }) => {
      const { name, email = "" } = body.data.attributes;
      return (await workspaces.organizations.createOrganization({ name, email }, caller))
        .organization;
    },
  }),
  route({
    method: "GET",
    path: "/organizations",
    summary: "List the caller's organizations",
    success: [200, list(organizationResource)],
    failures: [400],
    handle: async ({ services: { workspaces }, query, caller }) => {
      // Without paging all of them: clients look for one of theirs by name.
      const page = readOptionalPage(query);
      const { organizations, totalCount } = await workspaces.organizations.listOrganizations(
        {
          query: parameter(query, "q") ?? "",
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
    success: [200, one(organizationResource)],
    failures: [404],
    handle: async ({ services: { workspaces }, params, caller }) =>
      (await workspaces.organizations.getOrganization({ name: params.organizationName }, caller))
        .organization,
  }),
];
