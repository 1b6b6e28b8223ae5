import { create } from "@bufbuild/protobuf";
import { recordEvent } from "@statehouse/events";
import type { EntityManager } from "@statehouse/postgres";
import {
  RunTokenCreatedSchema,
  RunTokenDeletedSchema,
  RunTokenRenewedSchema,
  TeamCreatedSchema,
  TeamMemberAddedSchema,
  TeamMemberRemovedSchema,
  TeamProjectCreatedSchema,
  UserCreatedSchema,
  UserTokenCreatedSchema,
  UserTokenDeletedSchema,
} from "@statehouse/proto/statehouse/access/v1/events";
import type { AccessEvent } from "../domain/events.ts";
import type { TeamMember } from "../domain/team-member.ts";
import type { UserToken } from "../domain/user-token.ts";

/** Adds the event to the outbox, in the transaction of `em`. */
export async function record(em: EntityManager, event: AccessEvent): Promise<void> {
  const { revision } = event;
  switch (event.type) {
    case "userCreated": {
      const { id, username } = event.user;
      const message = create(UserCreatedSchema, { userId: id, username, revision });
      return recordEvent(em, { schema: UserCreatedSchema, message, subject: id, revision });
    }
    case "userTokenCreated": {
      const schema = UserTokenCreatedSchema;
      const message = create(schema, { ...tokenFields(event.userToken), revision });
      return recordEvent(em, { schema, message, subject: event.userToken.id, revision });
    }
    case "userTokenDeleted": {
      const schema = UserTokenDeletedSchema;
      const message = create(schema, { ...tokenFields(event.userToken), revision });
      return recordEvent(em, { schema, message, subject: event.userToken.id, revision });
    }
    case "runTokenCreated": {
      const { id: runTokenId, runId } = event.token;
      const { workspaceId, organizationId, runner } = event.run;
      const fields = { runTokenId, runId, workspaceId, organizationId, runner, revision };
      const schema = RunTokenCreatedSchema;
      const message = create(schema, fields);
      return recordEvent(em, { schema, message, subject: runTokenId, revision });
    }
    case "runTokenRenewed":
    case "runTokenDeleted": {
      const { id: runTokenId, runId } = event.token;
      const renewed = event.type === "runTokenRenewed";
      const schema = renewed ? RunTokenRenewedSchema : RunTokenDeletedSchema;
      const message = create(schema, { runTokenId, runId, revision });
      return recordEvent(em, { schema, message, subject: runTokenId, revision });
    }
    case "teamCreated": {
      const { id, organizationId, name } = event.team;
      const message = create(TeamCreatedSchema, { teamId: id, organizationId, name, revision });
      return recordEvent(em, { schema: TeamCreatedSchema, message, subject: id, revision });
    }
    case "teamMemberAdded": {
      const schema = TeamMemberAddedSchema;
      const message = create(schema, { ...memberFields(event.member), revision });
      return recordEvent(em, { schema, message, subject: event.member.teamId, revision });
    }
    case "teamMemberRemoved": {
      const schema = TeamMemberRemovedSchema;
      const message = create(schema, { ...memberFields(event.member), revision });
      return recordEvent(em, { schema, message, subject: event.member.teamId, revision });
    }
    case "teamProjectCreated": {
      const { id, teamId, projectId, organizationId, access } = event.teamProject;
      const fields = { teamProjectId: id, teamId, projectId, organizationId, access };
      const schema = TeamProjectCreatedSchema;
      const message = create(schema, { ...fields, revision });
      return recordEvent(em, { schema, message, subject: id, revision });
    }
  }
}

const tokenFields = ({ id, userId }: UserToken) => ({ userTokenId: id, userId });

const memberFields = ({ teamId, userId, organizationId }: TeamMember) => ({
  teamId,
  userId,
  organizationId,
});
