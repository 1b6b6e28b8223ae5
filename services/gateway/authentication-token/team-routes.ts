import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { choice, choices, text } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, routeForLongLivedCredentials } from "../http/route.ts";
import { listBody, typeOf } from "../jsonapi/body.ts";
import { organizationIdOf } from "../organization/name-routes.ts";
import { tokenBody, tokenFields } from "./body-routes.ts";
import { type AuthenticationToken, authenticationTokenResource } from "./resource.ts";

/** The values of `filter[expiry_status]`. Every token of this product expires, so `no_expiration` matches none. */
const expiryStatuses = [
  "active",
  "expiring_in_7_days",
  "expiring_in_30_days",
  "expired",
  "no_expiration",
];

const plain = "/teams/:teamId/authentication-token";

export const teamTokenRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "POST",
    path: plain,
    summary: "Create the team's default token, replacing the previous one",
    body: tokenBody,
    success: [201, one(authenticationTokenResource)],
    failures: [404, 422],
    handle: async ({ client, params, body, caller }): Promise<AuthenticationToken | undefined> => {
      const { token, secret } = await client(TokenService).createTeamToken(
        { teamId: params.teamId, ...tokenFields(body), defaultToken: true },
        caller,
      );
      return token && { token, secret };
    },
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path: plain,
    summary: "Show the team's default token, without its secret",
    success: [200, one(authenticationTokenResource)],
    failures: [404],
    handle: async ({ client, params, caller }): Promise<AuthenticationToken | undefined> => {
      const { token } = await client(TokenService).getTeamToken({ teamId: params.teamId }, caller);
      return token && { token };
    },
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path: plain,
    summary: "Revoke the team's default token",
    success: [204],
    failures: [404],
    handle: ({ client, params, caller }) =>
      client(TokenService).deleteTeamToken({ teamId: params.teamId }, caller),
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: "/teams/:teamId/authentication-tokens",
    summary: "Create an additional team token, with a description",
    body: tokenBody,
    success: [201, one(authenticationTokenResource)],
    failures: [404, 422],
    handle: async ({ client, params, body, caller }): Promise<AuthenticationToken | undefined> => {
      // If the body contains no description, the call creates the team's default token. With an empty description it
      // creates an additional token.
      const { token, secret } = await client(TokenService).createTeamToken(
        { teamId: params.teamId, ...tokenFields(body) },
        caller,
      );
      return token && { token, secret };
    },
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path: "/organizations/:organizationName/team-tokens",
    summary: "List the tokens of an organization's teams",
    query: {
      page,
      q: text("q", "Part of the team's name."),
      sort: choice(
        "sort",
        ["team-name", "created-by", "expired-at", "last-used-at"].flatMap((key) => [
          key,
          `-${key}`,
        ]),
        "The order of the list; tokens without a value are last.",
      ),
      expiryStatuses: choices(
        "filter[expiry_status]",
        expiryStatuses,
        "Only tokens with one of these statuses.",
        "filter",
      ),
    },
    success: [200, list(authenticationTokenResource)],
    failures: [400, 404],
    handle: async (input) => {
      const { page, q, sort, expiryStatuses } = input.query;
      const { tokens, totalCount } = await input.client(TokenService).listTeamTokens(
        {
          organizationId: await organizationIdOf(input, input.params.organizationName),
          query: q,
          sort,
          expiryStatuses,
          pageNumber: page.number,
          pageSize: page.size,
        },
        input.caller,
      );
      return { items: tokens.map((token): AuthenticationToken => ({ token })), page, totalCount };
    },
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path: "/organizations/:organizationName/team-tokens",
    summary: "Revoke tokens of an organization's teams, all of them or none",
    body: listBody(z.object({ type: typeOf("authentication-tokens"), id: z.string() })),
    success: [204],
    failures: [404, 422],
    handle: async (input) =>
      input.client(TokenService).deleteTeamTokens(
        {
          organizationId: await organizationIdOf(input, input.params.organizationName),
          tokenIds: input.body.data.map(({ id }) => id),
        },
        input.caller,
      ),
  }),
];
