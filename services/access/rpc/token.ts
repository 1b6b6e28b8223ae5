import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres";
import type { TokenSchema, TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  createOrganizationToken,
  deleteOrganizationToken,
  getOrganizationToken,
} from "../app/organization-token.ts";
import {
  createTeamToken,
  deleteTeamToken,
  getTeamToken,
  listTeamTokens,
} from "../app/team-token.ts";
import { deleteToken, getToken, type NewToken } from "../app/token.ts";
import { createUserToken, listUserTokens } from "../app/user-token.ts";
import { readTeamId, readTokenId, readUserId } from "../domain/ids.ts";
import type { Token } from "../domain/token.ts";
import type { Context } from "./context.ts";

export const tokenService = (app: App): ServiceImpl<typeof TokenService, Context> => ({
  createUserToken: async ({ userId, description, expiredAt }, { caller }) =>
    newTokenToProto(
      await createUserToken(app, caller, {
        userId: readUserId(userId),
        description,
        expiredAt: dateOf(expiredAt),
      }),
    ),

  listUserTokens: async ({ userId, ...page }, { caller }) => {
    const { tokens, total } = await listUserTokens(app, caller, {
      userId: readUserId(userId),
      page: pageOf(page),
    });
    return { tokens: tokens.map(tokenToProto), totalCount: total };
  },

  createTeamToken: async ({ teamId, description, expiredAt }, { caller }) =>
    newTokenToProto(
      await createTeamToken(app, caller, {
        teamId: readTeamId(teamId),
        description,
        expiredAt: dateOf(expiredAt),
      }),
    ),

  getTeamToken: async ({ teamId }, { caller }) => ({
    token: tokenToProto(await getTeamToken(app, caller, readTeamId(teamId))),
  }),

  deleteTeamToken: async ({ teamId }, { caller }) => {
    await deleteTeamToken(app, caller, readTeamId(teamId));
    return {};
  },

  listTeamTokens: async ({ organizationId, ...page }, { caller }) => {
    const { tokens, total } = await listTeamTokens(app, caller, {
      organizationId,
      page: pageOf(page),
    });
    return { tokens: tokens.map(tokenToProto), totalCount: total };
  },

  createOrganizationToken: async ({ organizationId, slot, expiredAt }, { caller }) =>
    newTokenToProto(
      await createOrganizationToken(app, caller, {
        organizationId,
        slot,
        expiredAt: dateOf(expiredAt),
      }),
    ),

  getOrganizationToken: async ({ organizationId, slot }, { caller }) => ({
    token: tokenToProto(await getOrganizationToken(app, caller, { organizationId, slot })),
  }),

  deleteOrganizationToken: async ({ organizationId, slot }, { caller }) => {
    await deleteOrganizationToken(app, caller, { organizationId, slot });
    return {};
  },

  getToken: async ({ id }, { caller }) => ({
    token: tokenToProto(await getToken(app, caller, readTokenId(id))),
  }),

  deleteToken: async ({ id }, { caller }) => {
    await deleteToken(app, caller, readTokenId(id));
    return {};
  },
});

const dateOf = (at: Timestamp | undefined): Date | undefined => at && timestampDate(at);

const newTokenToProto = ({ token, secret }: NewToken) => ({ token: tokenToProto(token), secret });

const tokenToProto = (token: Token): MessageInitShape<typeof TokenSchema> => ({
  id: token.id,
  type: token.type,
  userId: token.userId ?? "",
  teamId: token.teamId ?? "",
  organizationId: token.organizationId ?? "",
  createdAt: timestampFromDate(token.createdAt),
  expiredAt: timestampFromDate(token.expiredAt),
  createdByType: token.createdByType ?? "",
  createdById: token.createdById ?? "",
  ...(token.slot === "described" ? { description: token.description } : {}),
  ...(token.lastUsedAt ? { lastUsedAt: timestampFromDate(token.lastUsedAt) } : {}),
});
