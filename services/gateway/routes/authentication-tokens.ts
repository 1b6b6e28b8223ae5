import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { z } from "zod";
import { readPage } from "../http/paging.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { documentBody, optional, section } from "../jsonapi/body.ts";
import {
  type AuthenticationToken,
  authenticationTokenResource,
} from "../resources/authentication-tokens.ts";

/** Clients send an empty type here. */
const body = documentBody(
  z.object({
    type: optional(z.enum(["authentication-tokens", ""])),
    attributes: section(
      z.object({
        description: optional(z.string()),
        "expired-at": optional(z.iso.datetime({ offset: true })),
      }),
    ),
  }),
);

const ofUser = "/users/:userId/authentication-tokens";
const byId = "/authentication-tokens/:tokenId";

export const authenticationTokenRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: ofUser,
    summary: "List a user's tokens",
    success: [200, list(authenticationTokenResource)],
    failures: [400, 404],
    handle: async ({ services: { access }, params, query, caller }) => {
      const page = readPage(query);
      const { userTokens, totalCount } = await access.userTokens.listUserTokens(
        { userId: params.userId, pageNumber: page.number, pageSize: page.size },
        caller,
      );
      return {
        items: userTokens.map((token): AuthenticationToken => ({ token })),
        page,
        totalCount,
      };
    },
  }),
  route({
    method: "POST",
    path: ofUser,
    summary: "Create a token for a user; its secret is shown once",
    body,
    success: [201, one(authenticationTokenResource)],
    failures: [404, 422],
    handle: async ({
      services: { access },
      params,
      body,
      caller,
    }): Promise<AuthenticationToken | undefined> => {
      const { description = "", "expired-at": expiredAt } = body.data.attributes;
      const { userToken, secret } = await access.userTokens.createUserToken(
        {
          userId: params.userId,
          description,
          ...(expiredAt ? { expiredAt: timestampFromDate(new Date(expiredAt)) } : {}),
        },
        caller,
      );
      return userToken && { token: userToken, secret };
    },
  }),
  route({
    method: "GET",
    path: byId,
    summary: "Show a token, without its secret",
    success: [200, one(authenticationTokenResource)],
    failures: [404],
    handle: async ({
      services: { access },
      params,
      caller,
    }): Promise<AuthenticationToken | undefined> => {
      const { userToken } = await access.userTokens.getUserToken({ id: params.tokenId }, caller);
      return userToken && { token: userToken };
    },
  }),
  route({
    method: "DELETE",
    path: byId,
    summary: "Revoke a token",
    success: [204],
    failures: [404],
    handle: ({ services: { access }, params, caller }) =>
      access.userTokens.deleteUserToken({ id: params.tokenId }, caller),
  }),
];
