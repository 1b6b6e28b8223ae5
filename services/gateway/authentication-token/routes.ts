import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { page } from "../http/paging.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { tokenBody, tokenFields } from "./body-routes.ts";
import { type AuthenticationToken, authenticationTokenResource } from "./resource.ts";

const ofUser = "/users/:userId/authentication-tokens";
const byId = "/authentication-tokens/:tokenId";

export const authenticationTokenRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: ofUser,
    summary: "List a user's tokens",
    query: { page },
    success: [200, list(authenticationTokenResource)],
    failures: [400, 404],
    handle: async ({ client, params, query, caller }) => {
      const { page } = query;
      const { tokens, totalCount } = await client(TokenService).listUserTokens(
        { userId: params.userId, pageNumber: page.number, pageSize: page.size },
        caller,
      );
      return {
        items: tokens.map((token): AuthenticationToken => ({ token })),
        page,
        totalCount,
      };
    },
  }),
  route({
    method: "POST",
    path: ofUser,
    summary: "Create a token for a user; its secret is shown once",
    body: tokenBody,
    success: [201, one(authenticationTokenResource)],
    failures: [404, 422],
    handle: async ({ client, params, body, caller }): Promise<AuthenticationToken | undefined> => {
      const { token, secret } = await client(TokenService).createUserToken(
        { userId: params.userId, ...tokenFields(body) },
        caller,
      );
      return token && { token, secret };
    },
  }),
  route({
    method: "GET",
    path: byId,
    summary: "Show a token, without its secret",
    success: [200, one(authenticationTokenResource)],
    failures: [404],
    handle: async ({ client, params, caller }): Promise<AuthenticationToken | undefined> => {
      const { token } = await client(TokenService).getToken({ id: params.tokenId }, caller);
      return token && { token };
    },
  }),
  route({
    method: "DELETE",
    path: byId,
    summary: "Revoke a token",
    success: [204],
    failures: [404],
    handle: ({ client, params, caller }) =>
      client(TokenService).deleteToken({ id: params.tokenId }, caller),
  }),
];
