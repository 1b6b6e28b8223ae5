import { EntitySchema } from "@mikro-orm/core";
import { listed, published } from "@statehouse/events";
import { type EntityManager, queryIn, recordsOf } from "@statehouse/postgres";
import { primaryKey, text, timestamptz } from "@statehouse/postgres/columns";
import {
  TeamMemberAddedSchema,
  TeamMemberRemovedSchema,
} from "@statehouse/proto/statehouse/access/v1/events";
import { userNotFound } from "../errors-domain.ts";
import type { OrganizationId, TeamId, UserId } from "../ids-domain.ts";
import { versionOf } from "../organization-version-store.ts";
import { TeamMember } from "./domain.ts";

const entity = new EntitySchema({
  class: TeamMember,
  tableName: "team_members",
  properties: {
    teamId: primaryKey,
    userId: primaryKey,
    organizationId: text,
    createdAt: timestamptz,
  },
});

/** Counts the members of team $1 who have accepted their organization membership. */
export const countOfActiveMembers = `
  -- index: team_members_pkey, organization_memberships_user_id_organization_id_key
  select count(*)::int as count from team_members m
  join organization_memberships ou
    on ou.user_id = m.user_id and ou.organization_id = m.organization_id
  where m.team_id = $1 and ou.status = 'active'`;

/** Reads and writes the members of teams, inside a transaction that holds the lock on their organization's row. */
const rows = (em: EntityManager) => {
  const records = recordsOf(em, entity, userNotFound);

  return {
    ...records,

    ofUser: (organizationId: OrganizationId, userId: UserId): Promise<TeamMember[]> =>
      // index: team_members_by_user
      records.list({ organizationId, userId }, { order: ["teamId"] }),

    /** Returns the number of members of a team who have accepted their organization membership. */
    async countActive(teamId: TeamId): Promise<number> {
      const [row] = await queryIn<{ count: number }>(em, countOfActiveMembers, [teamId]);
      return row?.count ?? 0;
    },
  };
};

type Membership = Pick<TeamMember, "teamId" | "userId" | "organizationId">;

// The revision of these events is the version of the organization.

const fieldsOf = ({ teamId, userId, organizationId }: Membership, revision: bigint) => ({
  teamId,
  userId,
  organizationId,
  revision,
});

export const teamMemberAdded = (member: Membership, revision: bigint) =>
  published(TeamMemberAddedSchema, member.teamId, fieldsOf(member, revision));

export const teamMemberRemoved = (member: Membership, revision: bigint) =>
  published(TeamMemberRemovedSchema, member.teamId, fieldsOf(member, revision));

export const teamMembers = {
  entity,
  rows,
  deletedWithOrganization: "team_members",
  listed: listed({
    schemas: [TeamMemberAddedSchema],
    // index: team_members_pkey, organizations_pkey
    from: "team_members t",
    key: ["t.team_id", "t.user_id"],
    columns: `t.team_id as "teamId", t.user_id as "userId", t.organization_id as "organizationId"`,
    revision: versionOf("t.organization_id"),
    events: (member: Membership & { revision: bigint }) => [
      teamMemberAdded(member, member.revision),
    ],
  }),
};
