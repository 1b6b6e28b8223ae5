import { ArrayType, BigIntType, EntitySchema } from "@mikro-orm/core";
import { Organization } from "../domain/organization.ts";
import { Team } from "../domain/team.ts";
import { TeamMember } from "../domain/team-member.ts";
import { TeamProject } from "../domain/team-project.ts";
import { User } from "../domain/user.ts";
import { UserToken } from "../domain/user-token.ts";

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
    version: counter,
    createdAt: moment,
  },
});

export const userTokenSchema = new EntitySchema({
  class: UserToken,
  tableName: "user_tokens",
  properties: {
    id,
    userId: text,
    hash: text,
    description: text,
    revision: counter,
    createdByUserId: { ...text, nullable: true },
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
    createdAt: moment,
  },
});

export const teamMemberSchema = new EntitySchema({
  class: TeamMember,
  tableName: "team_members",
  properties: { teamId: id, userId: id, organizationId: text, createdAt: moment },
});

export const teamProjectSchema = new EntitySchema({
  class: TeamProject,
  tableName: "team_projects",
  properties: {
    id,
    teamId: text,
    projectId: text,
    organizationId: text,
    access: text,
    createdAt: moment,
  },
});

export const entities = [
  userSchema,
  userTokenSchema,
  organizationSchema,
  teamSchema,
  teamMemberSchema,
  teamProjectSchema,
];
