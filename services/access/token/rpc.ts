import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres/paging";
import type { TokenSchema, TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { organizationId, teamId, tokenId, userId } from "../ids-rpc.ts";
import { deleteToken, getToken, type NewToken } from "./app.ts";
import { type TokenView, tokenSortOf } from "./domain.ts";
import {
  createOrganizationToken,
  deleteOrganizationToken,
  getOrganizationToken,
} from "./organization-app.ts";
import {
  createTeamToken,
  deleteTeamToken,
  deleteTeamTokens,
  getTeamToken,
  listTeamTokens,
} from "./team-app.ts";
import { createUserToken, listUserTokens } from "./user-app.ts";

export const tokenService = (app: App): ServiceImpl<typeof TokenService> => ({
  createUserToken: async ({ description, expiredAt, ...request }, { caller }) =>
    newTokenToProto(
      await createUserToken(app, caller, {
        userId: userId(request.userId),
        description,
        expiredAt: dateOf(expiredAt),
      }),
    ),

  listUserTokens: async (request, { caller }) => {
    const { rows, total } = await listUserTokens(app, caller, {
      userId: userId(request.userId),
      page: pageOf(request),
    });
    return { tokens: rows.map(tokenToProto), totalCount: total };
  },

  createTeamToken: async ({ description, expiredAt, defaultToken, ...request }, { caller }) =>
    newTokenToProto(
      await createTeamToken(app, caller, {
        teamId: teamId(request.teamId),
        description,
        defaultToken,
        expiredAt: dateOf(expiredAt),
      }),
    ),

  getTeamToken: async (request, { caller }) => ({
    token: tokenToProto(await getTeamToken(app, caller, teamId(request.teamId))),
  }),

  deleteTeamToken: (request, { caller }) => deleteTeamToken(app, caller, teamId(request.teamId)),

  listTeamTokens: async (request, { caller }) => {
    const { rows, total } = await listTeamTokens(app, caller, {
      organizationId: organizationId(request.organizationId),
      query: request.query,
      sort: tokenSortOf(request.sort),
      expiryStatuses: request.expiryStatuses,
      page: pageOf(request),
    });
    return { tokens: rows.map(tokenToProto), totalCount: total };
  },

  deleteTeamTokens: (request, { caller }) =>
    deleteTeamTokens(app, caller, {
      organizationId: organizationId(request.organizationId),
      tokenIds: request.tokenIds.map(tokenId),
    }),

  createOrganizationToken: async ({ slot, description, expiredAt, ...request }, { caller }) =>
    newTokenToProto(
      await createOrganizationToken(app, caller, {
        organizationId: organizationId(request.organizationId),
        slot,
        description,
        expiredAt: dateOf(expiredAt),
      }),
    ),

  getOrganizationToken: async ({ slot, ...request }, { caller }) => ({
    token: tokenToProto(
      await getOrganizationToken(app, caller, {
        organizationId: organizationId(request.organizationId),
        slot,
      }),
    ),
  }),

  deleteOrganizationToken: ({ slot, ...request }, { caller }) =>
    deleteOrganizationToken(app, caller, {
      organizationId: organizationId(request.organizationId),
      slot,
    }),

  getToken: async ({ id }, { caller }) => ({
    token: tokenToProto(await getToken(app, caller, tokenId(id))),
  }),

  deleteToken: ({ id }, { caller }) => deleteToken(app, caller, tokenId(id)),
});

const dateOf = (at: Timestamp | undefined): Date | undefined => at && timestampDate(at);

const newTokenToProto = ({ token, secret }: NewToken) => ({ token: tokenToProto(token), secret });

const tokenToProto = ({
  createdAt,
  expiredAt,
  lastUsedAt,
  description,
  ...token
}: TokenView): MessageInitShape<typeof TokenSchema> => ({
  ...token,
  userId: token.userId ?? "",
  teamId: token.teamId ?? "",
  organizationId: token.organizationId ?? "",
  createdByType: token.createdByType ?? "",
  createdById: token.createdById ?? "",
  createdAt: timestampFromDate(createdAt),
  expiredAt: timestampFromDate(expiredAt),
  lastUsedAt: lastUsedAt ? timestampFromDate(lastUsedAt) : undefined,
  // A token of the slot `described` always shows its description. Each other slot has at most one token, whose
  // description is omitted if it is empty.
  description: token.slot === "described" ? description : description || undefined,
});
