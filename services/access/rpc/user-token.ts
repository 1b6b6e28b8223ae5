import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  UserTokenSchema,
  UserTokenService,
} from "@statehouse/proto/statehouse/access/v1/user_token";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  createUserToken,
  deleteUserToken,
  getUserToken,
  listUserTokens,
} from "../app/user-token.ts";
import { readUserId, readUserTokenId } from "../domain/ids.ts";
import type { UserToken } from "../domain/user-token.ts";
import type { Context } from "./context.ts";

/** For a request that names no page. */
const FIRST_PAGE = 1;
const PAGE_SIZE = 20;

export const userTokenService = (app: App): ServiceImpl<typeof UserTokenService, Context> => ({
  createUserToken: async ({ userId, description, expiredAt }, { caller }) => {
    const { userToken, secret } = await createUserToken(app, caller, {
      userId: readUserId(userId),
      description,
      expiredAt: expiredAt && timestampDate(expiredAt),
    });
    return { userToken: userTokenToProto(userToken), secret };
  },

  listUserTokens: async ({ userId, pageNumber, pageSize }, { caller }) => {
    const page = { number: pageNumber || FIRST_PAGE, size: pageSize || PAGE_SIZE };
    const { userTokens, totalCount } = await listUserTokens(app, caller, {
      userId: readUserId(userId),
      page,
    });
    return { userTokens: userTokens.map(userTokenToProto), totalCount };
  },

  getUserToken: async ({ id }, { caller }) => ({
    userToken: userTokenToProto(await getUserToken(app, caller, readUserTokenId(id))),
  }),

  deleteUserToken: async ({ id }, { caller }) => {
    await deleteUserToken(app, caller, readUserTokenId(id));
    return {};
  },
});

const userTokenToProto = (userToken: UserToken): MessageInitShape<typeof UserTokenSchema> => ({
  id: userToken.id,
  userId: userToken.userId,
  description: userToken.description,
  createdAt: timestampFromDate(userToken.createdAt),
  expiredAt: timestampFromDate(userToken.expiredAt),
  createdByUserId: userToken.createdByUserId ?? "",
  ...(userToken.lastUsedAt ? { lastUsedAt: timestampFromDate(userToken.lastUsedAt) } : {}),
});
