import { OrganizationMembershipService } from "@statehouse/proto/statehouse/access/v1/organization_membership";
import { OrganizationService } from "@statehouse/proto/statehouse/workspaces/v1/organization";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { text, texts } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route, routeForLongLivedCredentials } from "../http/route.ts";
import { documentBody, listOf, optional, section, uncheckedTypeOf } from "../jsonapi/body.ts";
import { organizationIdOf, withOrganizationName } from "../organization/name-routes.ts";
import { organizationMembershipResource } from "../team/resource.ts";

const includes = ["user", "teams"] as const;

const body = documentBody(
  z.object({
    type: uncheckedTypeOf("organization-memberships"),
    attributes: section(z.object({ email: z.string() })),
    relationships: section(
      z.object({
        teams: optional(
          z.object({ data: listOf(z.object({ type: z.literal("teams"), id: z.string() })) }),
        ),
      }),
    ),
  }),
);

/** The body that accepts an invitation. If it contains no secret, the invitation must belong to the caller. */
const acceptBody = z
  .object({
    data: optional(z.object({ attributes: optional(z.object({ secret: optional(z.string()) })) })),
  })
  .transform((body) => ({ secret: body.data?.attributes?.secret ?? "" }));

const ofOrganization = "/organizations/:organizationName/organization-memberships";
const byId = "/organization-memberships/:membershipId";

export const organizationMembershipRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "GET",
    path: ofOrganization,
    summary: "List an organization's memberships",
    includes,
    query: {
      page,
      query: text("q", "Part of the user's name or address."),
      emails: texts("filter[email]", "Only members with one of these addresses."),
      status: text("filter[status]", "Only memberships with this status: invited or active."),
    },
    success: [200, list(organizationMembershipResource, "memberships")],
    failures: [400, 404],
    handle: async (input) => {
      const { params, client, caller } = input;
      const { page, ...filters } = input.query;
      const found = await client(OrganizationMembershipService).listOrganizationMemberships(
        { organizationId: await organizationIdOf(input), ...filters, ...page },
        caller,
      );
      return {
        memberships: found.organizationMemberships.map((one) => ({ ...one, ...params })),
        totalCount: found.totalCount,
      };
    },
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: ofOrganization,
    summary: "Invite a user into an organization",
    body,
    includes,
    // Public clients read the invited user from the response.
    alwaysIncludes: ["user"],
    success: [201, one(organizationMembershipResource, "membership")],
    failures: [400, 404, 422],
    handle: async (input) => {
      const { params, client, caller } = input;
      const { attributes, relationships } = input.body.data;
      const { organizationMembership } = await client(
        OrganizationMembershipService,
      ).createOrganizationMembership(
        {
          organizationId: await organizationIdOf(input),
          email: attributes.email,
          teamIds: relationships.teams?.data.map(({ id }) => id) ?? [],
        },
        caller,
      );
      return { membership: organizationMembership && { ...organizationMembership, ...params } };
    },
  }),
  route({
    method: "GET",
    path: "/organization-memberships",
    summary: "List the caller's own accepted memberships",
    includes,
    query: { page },
    success: [200, list(organizationMembershipResource, "memberships")],
    failures: [400, 404],
    credentials: ["user"],
    handle: async ({ query: { page }, client, caller }) => {
      const { organizationMemberships, totalCount } = await client(
        OrganizationMembershipService,
      ).listOwnOrganizationMemberships(page, caller);
      const ids = organizationMemberships.map(({ organizationId }) => organizationId);
      const { organizations } = await client(OrganizationService).batchGetOrganizations(
        { ids },
        caller,
      );
      const names = new Map(organizations.map(({ id, name }) => [id, name]));
      const memberships = organizationMemberships.map((membership) => ({
        ...membership,
        organizationName: names.get(membership.organizationId),
      }));
      return { memberships, totalCount };
    },
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path: byId,
    summary: "Show a membership",
    includes,
    success: [200, one(organizationMembershipResource, "membership")],
    failures: [400, 404],
    handle: async (input) => {
      const { params, client, caller } = input;
      const { organizationMembership } = await client(
        OrganizationMembershipService,
      ).getOrganizationMembership({ id: params.membershipId }, caller);
      return { membership: await withOrganizationName(input, organizationMembership) };
    },
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path: byId,
    summary: "Remove a user from an organization",
    success: [204],
    failures: [404, 409],
    handle: ({ client, params, caller }) =>
      client(OrganizationMembershipService).deleteOrganizationMembership(
        { id: params.membershipId },
        caller,
      ),
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: `${byId}/actions/accept`,
    summary: "Accept the invitation, as the invited user",
    success: [200, one(organizationMembershipResource, "membership")],
    failures: [404, 422],
    body: acceptBody,
    handle: async ({ client, params, caller, body: { secret } }) => {
      const { organizationMembership, organizationName } = await client(
        OrganizationMembershipService,
      ).acceptOrganizationMembership({ id: params.membershipId, secret }, caller);
      return {
        membership: organizationMembership && { ...organizationMembership, organizationName },
      };
    },
  }),
];
