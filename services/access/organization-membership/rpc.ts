import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { idsIn } from "@statehouse/postgres/ids";
import { pageOf } from "@statehouse/postgres/paging";
import type {
  OrganizationMembershipSchema,
  OrganizationMembershipService,
} from "@statehouse/proto/statehouse/access/v1/organization_membership";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { organizationId, organizationMembershipId, teamId } from "../ids-rpc.ts";
import {
  acceptOrganizationMembership,
  batchGetOrganizationMemberships,
  createOrganizationMembership,
  deleteOrganizationMembership,
  getOrganizationMembership,
  listOrganizationMemberships,
  listOwnOrganizationMemberships,
  type VisibleMembership,
} from "./app.ts";
import { organizationMembershipSortOf } from "./domain.ts";

export const organizationMembershipService = (
  app: App,
): ServiceImpl<typeof OrganizationMembershipService> => ({
  createOrganizationMembership: async ({ email, teamIds, ...request }, { caller }) => ({
    organizationMembership: membershipToProto(
      await createOrganizationMembership(app, caller, {
        organizationId: organizationId(request.organizationId),
        email,
        teamIds: teamIds.map(teamId),
      }),
    ),
  }),

  getOrganizationMembership: async ({ id }, { caller }) => ({
    organizationMembership: membershipToProto(
      await getOrganizationMembership(app, caller, organizationMembershipId(id)),
    ),
  }),

  listOrganizationMemberships: async ({ query, emails, status, ...request }, { caller }) => {
    const { rows, total } = await listOrganizationMemberships(app, caller, {
      of:
        request.teamId === ""
          ? { organizationId: organizationId(request.organizationId) }
          : { teamId: teamId(request.teamId) },
      query,
      emails,
      status,
      sort: organizationMembershipSortOf(request.sort),
      page: pageOf(request),
    });
    return { organizationMemberships: rows.map(membershipToProto), totalCount: total };
  },

  listOwnOrganizationMemberships: async (request, { caller }) => {
    const { rows, total } = await listOwnOrganizationMemberships(app, caller, pageOf(request));
    return { organizationMemberships: rows.map(membershipToProto), totalCount: total };
  },

  batchGetOrganizationMemberships: async ({ ids }, { caller }) => {
    const known = idsIn("ou", ids);
    const memberships = await batchGetOrganizationMemberships(app, caller, known);
    return { organizationMemberships: memberships.map(membershipToProto) };
  },

  acceptOrganizationMembership: async ({ id, secret }, { caller }) => {
    const { organizationName, ...membership } = await acceptOrganizationMembership(app, caller, {
      id: organizationMembershipId(id),
      secret: secret || undefined,
    });
    return { organizationMembership: membershipToProto(membership), organizationName };
  },

  deleteOrganizationMembership: ({ id }, { caller }) =>
    deleteOrganizationMembership(app, caller, organizationMembershipId(id)),
});

const membershipToProto = ({
  createdAt,
  ...membership
}: VisibleMembership): MessageInitShape<typeof OrganizationMembershipSchema> => ({
  ...membership,
  createdAt: timestampFromDate(createdAt),
});
