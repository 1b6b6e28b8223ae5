import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { choice, choices, text } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, routeForLongLivedCredentials } from "../http/route.ts";
import { listBody, typeOf } from "../jsonapi/body.ts";
import { organizationIdOf } from "../organization/name-routes.ts";
import { tokenBody } from "./body-routes.ts";
import { authenticationTokenResource, withSecret } from "./resource.ts";

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
    success: [201, one(authenticationTokenResource, "token")],
    failures: [404, 422],
    handle: async ({ client, params, body, caller }) => {
      const request = { ...params, ...body, defaultToken: true };
      return withSecret(await client(TokenService).createTeamToken(request, caller));
    },
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path: plain,
    summary: "Show the team's default token, without its secret",
    success: [200, one(authenticationTokenResource, "token")],
    failures: [404],
    handle: ({ client, params, caller }) => client(TokenService).getTeamToken(params, caller),
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path: plain,
    summary: "Revoke the team's default token",
    success: [204],
    failures: [404],
    handle: ({ client, params, caller }) => client(TokenService).deleteTeamToken(params, caller),
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: "/teams/:teamId/authentication-tokens",
    summary: "Create an additional team token, with a description",
    body: tokenBody,
    success: [201, one(authenticationTokenResource, "token")],
    failures: [404, 422],
    // If the body contains no description, the call creates the team's default token. With an empty description it
    // creates an additional token.
    handle: async ({ client, params, body, caller }) =>
      withSecret(await client(TokenService).createTeamToken({ ...params, ...body }, caller)),
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path: "/organizations/:organizationName/team-tokens",
    summary: "List the tokens of an organization's teams",
    query: {
      page,
      query: text("q", "Part of the team's name."),
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
    success: [200, list(authenticationTokenResource, "tokens")],
    failures: [400, 404],
    handle: async (input) => {
      const { page, ...filters } = input.query;
      const request = { organizationId: await organizationIdOf(input), ...filters, ...page };
      return input.client(TokenService).listTeamTokens(request, input.caller);
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
          organizationId: await organizationIdOf(input),
          tokenIds: input.body.data.map(({ id }) => id),
        },
        input.caller,
      ),
  }),
];
