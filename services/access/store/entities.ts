import { ArrayType, BigIntType, EntitySchema } from "@mikro-orm/core";
import { Organization } from "../domain/organization.ts";
import { OrganizationMembership } from "../domain/organization-membership.ts";
import { Team } from "../domain/team.ts";
import { TeamAccess } from "../domain/team-access.ts";
import { TeamMember } from "../domain/team-member.ts";
import { Token } from "../domain/token.ts";
import { User } from "../domain/user.ts";

const text = { type: "text" } as const;
const flag = { type: "boolean" } as const;
const moment = { type: "datetime", length: 3 } as const;
const id = { type: "text", primary: true } as const;
const counter = { type: new BigIntType("bigint") } as const;

// References are plain ids: rows are loaded and written one by one, never as graphs.

export const userSchema = new EntitySchema({
  class: User,
  tableName: "users",
  properties: {
    id,
    username: text,
    email: text,
    administrator: flag,
    suspended: flag,
    placeholder: flag,
    version: counter,
    createdAt: moment,
  },
});

export const tokenSchema = new EntitySchema({
  class: Token,
  tableName: "tokens",
  properties: {
    id,
    type: text,
    userId: { ...text, nullable: true },
    teamId: { ...text, nullable: true },
    organizationId: { ...text, nullable: true },
    slot: text,
    hash: text,
    description: text,
    revision: counter,
    createdByType: { ...text, nullable: true },
    createdById: { ...text, nullable: true },
    createdAt: moment,
    expiredAt: moment,
    lastUsedAt: { ...moment, nullable: true },
  },
});

export const organizationSchema = new EntitySchema({
  class: Organization,
  tableName: "organizations",
  properties: {
    id,
    version: counter,
    provisionedVersion: counter,
    userTokensEnabled: flag,
    settingsVersion: counter,
    createdAt: moment,
    droppedAt: { ...moment, nullable: true },
  },
});

export const teamSchema = new EntitySchema({
  class: Team,
  tableName: "teams",
  properties: {
    id,
    organizationId: text,
    name: text,
    visibility: text,
    organizationAccess: { type: new ArrayType() },
    owners: flag,
    ssoTeamId: { ...text, nullable: true },
    allowMemberTokenManagement: flag,
    createdAt: moment,
  },
});

export const teamMemberSchema = new EntitySchema({
  class: TeamMember,
  tableName: "team_members",
  properties: { teamId: id, userId: id, organizationId: text, createdAt: moment },
});

export const teamAccessSchema = new EntitySchema({
  class: TeamAccess,
  tableName: "team_accesses",
  properties: {
    id,
    teamId: text,
    targetType: text,
    targetId: text,
    organizationId: text,
    access: text,
    permissions: { type: "json" },
    createdAt: moment,
  },
});

export const organizationMembershipSchema = new EntitySchema({
  class: OrganizationMembership,
  tableName: "organization_memberships",
  properties: { id, organizationId: text, userId: text, status: text, createdAt: moment },
});

export const entities = [
  userSchema,
  tokenSchema,
  organizationSchema,
  organizationMembershipSchema,
  teamSchema,
  teamMemberSchema,
  teamAccessSchema,
];
