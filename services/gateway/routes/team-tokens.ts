import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { longLivedCredentials } from "../http/authentication.ts";
import { page } from "../http/paging.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { omitUndefined } from "../jsonapi/omit-undefined.ts";
import {
  type AuthenticationToken,
  authenticationTokenResource,
} from "../resources/authentication-tokens.ts";
import { organizationIdOf } from "./organization-name.ts";
import { expiryOf, tokenBody } from "./token-body.ts";

const plain = "/teams/:teamId/authentication-token";

export const teamTokenRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: plain,
    summary: "Create the team's default token, replacing the previous one",
    body: tokenBody,
    success: [201, one(authenticationTokenResource)],
    failures: [404, 422],
    credentials: longLivedCredentials,
    handle: async ({ client, params, body, caller }): Promise<AuthenticationToken | undefined> => {
      const { token, secret } = await client(TokenService).createTeamToken(
        { teamId: params.teamId, ...expiryOf(body) },
        caller,
      );
      return token && { token, secret };
    },
  }),
  route({
    method: "GET",
    path: plain,
    summary: "Show the team's default token, without its secret",
    success: [200, one(authenticationTokenResource)],
    failures: [404],
    credentials: longLivedCredentials,
    handle: async ({ client, params, caller }): Promise<AuthenticationToken | undefined> => {
      const { token } = await client(TokenService).getTeamToken({ teamId: params.teamId }, caller);
      return token && { token };
    },
  }),
  route({
    method: "DELETE",
    path: plain,
    summary: "Revoke the team's default token",
    success: [204],
    failures: [404],
    credentials: longLivedCredentials,
    handle: ({ client, params, caller }) =>
      client(TokenService).deleteTeamToken({ teamId: params.teamId }, caller),
  }),
  route({
    method: "POST",
    path: "/teams/:teamId/authentication-tokens",
    summary: "Create an additional team token, with a description",
    body: tokenBody,
    success: [201, one(authenticationTokenResource)],
    failures: [404, 422],
    credentials: longLivedCredentials,
    handle: async ({ client, params, body, caller }): Promise<AuthenticationToken | undefined> => {
      // Without a description it is the team's default token; an empty description makes an additional token.
      const { description } = body.data.attributes;
      const { token, secret } = await client(TokenService).createTeamToken(
        { teamId: params.teamId, ...omitUndefined({ description }), ...expiryOf(body) },
        caller,
      );
      return token && { token, secret };
    },
  }),
  route({
    method: "GET",
    path: "/organizations/:organizationName/team-tokens",
    summary: "List the tokens of an organization's teams",
    query: { page },
    success: [200, list(authenticationTokenResource)],
    failures: [400, 404],
    credentials: longLivedCredentials,
    handle: async (input) => {
      const { page } = input.query;
      const { tokens, totalCount } = await input.client(TokenService).listTeamTokens(
        {
          organizationId: await organizationIdOf(input, input.params.organizationName),
          pageNumber: page.number,
          pageSize: page.size,
        },
        input.caller,
      );
      return { items: tokens.map((token): AuthenticationToken => ({ token })), page, totalCount };
    },
  }),
];
