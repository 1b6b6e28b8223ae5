import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { recordEvent } from "@statehouse/events";
import type { EntityManager } from "@statehouse/postgres";
import * as events from "@statehouse/proto/statehouse/access/v1/events";
import type { AccessEvent, AccessEvents } from "../domain/events.ts";
import type { OrganizationMembership } from "../domain/organization-membership.ts";
import type { Team } from "../domain/team.ts";
import type { TeamAccess } from "../domain/team-access.ts";
import type { TeamMember } from "../domain/team-member.ts";
import type { Token } from "../domain/token.ts";
import type { User } from "../domain/user.ts";

interface Outgoing {
  schema: DescMessage;
  /** Without the revision, which every event has. */
  fields: object;
  subject: string;
}

const outgoing = <Schema extends DescMessage>(
  schema: Schema,
  subject: string,
  fields: Omit<MessageInitShape<Schema>, "revision">,
): Outgoing => ({ schema, subject, fields });

/** What is published of each event; never a secret. */
const published: { [Type in keyof AccessEvents]: (event: AccessEvents[Type]) => Outgoing } = {
  userCreated: ({ user }) => outgoing(events.UserCreatedSchema, user.id, ofUser(user)),
  userUpdated: ({ user }) => outgoing(events.UserUpdatedSchema, user.id, ofUser(user)),
  tokenCreated: ({ token }) => outgoing(events.TokenCreatedSchema, token.id, ofToken(token)),
  tokenDeleted: ({ token }) => outgoing(events.TokenDeletedSchema, token.id, ofToken(token)),
  runTokenCreated: ({ token: { id, runId }, run: { workspaceId, organizationId, runner } }) =>
    outgoing(events.RunTokenCreatedSchema, id, {
      runTokenId: id,
      runId,
      workspaceId,
      organizationId,
      runner,
    }),
  runTokenRenewed: ({ token: { id, runId } }) =>
    outgoing(events.RunTokenRenewedSchema, id, { runTokenId: id, runId }),
  runTokenDeleted: ({ token: { id, runId } }) =>
    outgoing(events.RunTokenDeletedSchema, id, { runTokenId: id, runId }),
  teamCreated: ({ team }) => outgoing(events.TeamCreatedSchema, team.id, ofTeam(team)),
  teamUpdated: ({ team }) => outgoing(events.TeamUpdatedSchema, team.id, ofTeam(team)),
  teamDeleted: ({ team: { id, organizationId } }) =>
    outgoing(events.TeamDeletedSchema, id, { teamId: id, organizationId }),
  teamMemberAdded: ({ member }) =>
    outgoing(events.TeamMemberAddedSchema, member.teamId, ofMember(member)),
  teamMemberRemoved: ({ member }) =>
    outgoing(events.TeamMemberRemovedSchema, member.teamId, ofMember(member)),
  teamAccessCreated: ({ teamAccess }) =>
    teamAccess.targetType === "project"
      ? outgoing(events.TeamProjectCreatedSchema, teamAccess.id, ofTeamProject(teamAccess))
      : outgoing(events.TeamWorkspaceCreatedSchema, teamAccess.id, ofTeamWorkspace(teamAccess)),
  teamAccessUpdated: ({ teamAccess }) =>
    teamAccess.targetType === "project"
      ? outgoing(events.TeamProjectUpdatedSchema, teamAccess.id, ofTeamProject(teamAccess))
      : outgoing(events.TeamWorkspaceUpdatedSchema, teamAccess.id, ofTeamWorkspace(teamAccess)),
  teamAccessDeleted: ({ teamAccess }) =>
    teamAccess.targetType === "project"
      ? outgoing(events.TeamProjectDeletedSchema, teamAccess.id, ofDeletedTeamProject(teamAccess))
      : outgoing(
          events.TeamWorkspaceDeletedSchema,
          teamAccess.id,
          ofDeletedTeamWorkspace(teamAccess),
        ),
  organizationMembershipInvited: ({ membership, email }) =>
    outgoing(events.OrganizationMembershipInvitedSchema, membership.id, {
      ...ofMembership(membership),
      email,
    }),
  organizationMembershipActivated: ({ membership }) =>
    outgoing(events.OrganizationMembershipActivatedSchema, membership.id, ofMembership(membership)),
  organizationMembershipDeleted: ({ membership }) =>
    outgoing(events.OrganizationMembershipDeletedSchema, membership.id, ofMembership(membership)),
};

/** Adds the event to the outbox, in the transaction of `em`. */
export async function record(em: EntityManager, event: AccessEvent): Promise<void> {
  const { type, revision } = event;
  const { schema, subject, fields } = published[type](event as never);
  const message = create(schema, { ...fields, revision } as MessageInitShape<typeof schema>);
  await recordEvent(em, { schema, message, subject, revision });
}

const ofUser = ({ id, username }: User) => ({ userId: id, username });

const ofToken = ({ id, type, userId, teamId, organizationId }: Token) => ({
  tokenId: id,
  ownerType: type,
  ownerId: userId ?? teamId ?? organizationId ?? "",
});

const ofTeam = ({ id, organizationId, name }: Team) => ({ teamId: id, organizationId, name });

const ofMember = ({ teamId, userId, organizationId }: TeamMember) => ({
  teamId,
  userId,
  organizationId,
});

const ofDeletedTeamProject = ({ id, teamId, targetId, organizationId }: TeamAccess) => ({
  teamProjectId: id,
  teamId,
  projectId: targetId,
  organizationId,
});

const ofTeamProject = (teamAccess: TeamAccess) => ({
  ...ofDeletedTeamProject(teamAccess),
  access: teamAccess.access,
});

const ofDeletedTeamWorkspace = ({ id, teamId, targetId, organizationId }: TeamAccess) => ({
  teamWorkspaceId: id,
  teamId,
  workspaceId: targetId,
  organizationId,
});

const ofTeamWorkspace = (teamAccess: TeamAccess) => ({
  ...ofDeletedTeamWorkspace(teamAccess),
  access: teamAccess.access,
});

const ofMembership = ({ id, organizationId, userId }: OrganizationMembership) => ({
  organizationMembershipId: id,
  organizationId,
  userId,
});
