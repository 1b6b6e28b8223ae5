import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { page } from "../http/paging.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { tokenBody } from "./body-routes.ts";
import { authenticationTokenResource, withSecret } from "./resource.ts";

const ofUser = "/users/:userId/authentication-tokens";
const byId = "/authentication-tokens/:tokenId";

export const authenticationTokenRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: ofUser,
    summary: "List a user's tokens",
    query: { page },
    success: [200, list(authenticationTokenResource, "tokens")],
    failures: [400, 404],
    handle: ({ client, params, query: { page }, caller }) =>
      client(TokenService).listUserTokens({ ...params, ...page }, caller),
  }),
  route({
    method: "POST",
    path: ofUser,
    summary: "Create a token for a user; its secret is shown once",
    body: tokenBody,
    success: [201, one(authenticationTokenResource, "token")],
    failures: [404, 422],
    handle: async ({ client, params, body, caller }) =>
      withSecret(await client(TokenService).createUserToken({ ...params, ...body }, caller)),
  }),
  route({
    method: "GET",
    path: byId,
    summary: "Show a token, without its secret",
    success: [200, one(authenticationTokenResource, "token")],
    failures: [404],
    handle: ({ client, params, caller }) =>
      client(TokenService).getToken({ id: params.tokenId }, caller),
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
