import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres";
import type {
  OrganizationMembershipSchema,
  OrganizationMembershipService,
} from "@statehouse/proto/statehouse/access/v1/organization_membership";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  acceptOrganizationMembership,
  batchGetOrganizationMemberships,
  createOrganizationMembership,
  deleteOrganizationMembership,
  getOrganizationMembership,
  listOrganizationMemberships,
  type ShownMembership,
} from "../app/organization-membership.ts";
import { readMembershipId, readMembershipIds, readTeamId } from "../domain/ids.ts";
import type { Context } from "./context.ts";

export const organizationMembershipService = (
  app: App,
): ServiceImpl<typeof OrganizationMembershipService, Context> => ({
  createOrganizationMembership: async ({ organizationId, email, teamIds }, { caller }) => ({
    organizationMembership: toProto(
      await createOrganizationMembership(app, caller, {
        organizationId,
        email,
        teamIds: teamIds.map(readTeamId),
      }),
    ),
  }),

  getOrganizationMembership: async ({ id }, { caller }) => ({
    organizationMembership: toProto(
      await getOrganizationMembership(app, caller, readMembershipId(id)),
    ),
  }),

  listOrganizationMemberships: async (request, { caller }) => {
    const { organizationId, query, emails, status } = request;
    const { memberships, total } = await listOrganizationMemberships(app, caller, {
      organizationId,
      query,
      emails,
      status,
      page: pageOf(request),
    });
    return { organizationMemberships: memberships.map(toProto), totalCount: total };
  },

  batchGetOrganizationMemberships: async ({ ids }, { caller }) => ({
    organizationMemberships: (
      await batchGetOrganizationMemberships(app, caller, readMembershipIds(ids))
    ).map(toProto),
  }),

  acceptOrganizationMembership: async ({ id }, { caller }) => ({
    organizationMembership: toProto(
      await acceptOrganizationMembership(app, caller, readMembershipId(id)),
    ),
  }),

  deleteOrganizationMembership: async ({ id }, { caller }) => {
    await deleteOrganizationMembership(app, caller, readMembershipId(id));
    return {};
  },
});

const toProto = ({
  membership,
  email,
  teamIds,
}: ShownMembership): MessageInitShape<typeof OrganizationMembershipSchema> => ({
  id: membership.id,
  organizationId: membership.organizationId,
  userId: membership.userId,
  status: membership.status,
  teamIds,
  createdAt: timestampFromDate(membership.createdAt),
  ...(email === undefined ? {} : { email }),
});
