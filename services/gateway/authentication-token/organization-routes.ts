import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { text } from "../http/query.ts";
import { one } from "../http/rendering.ts";
import { type Route, routeForLongLivedCredentials } from "../http/route.ts";
import { organizationIdOf } from "../organization/name-routes.ts";
import { tokenBody, tokenFields } from "./body-routes.ts";
import { type AuthenticationToken, authenticationTokenResource } from "./resource.ts";

const path = "/organizations/:organizationName/authentication-token";

const query = {
  slot: text("token", "`audit-trails` selects the audit trails token."),
};

export const organizationTokenRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "POST",
    path,
    summary: "Create the organization's token, replacing the previous one",
    body: tokenBody,
    query,
    success: [201, one(authenticationTokenResource)],
    failures: [400, 404, 422],
    handle: async (input): Promise<AuthenticationToken | undefined> => {
      const { token, secret } = await input.client(TokenService).createOrganizationToken(
        {
          organizationId: await organizationIdOf(input, input.params.organizationName),
          slot: input.query.slot,
          ...tokenFields(input.body),
        },
        input.caller,
      );
      return token && { token, secret };
    },
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path,
    summary: "Show the organization's token, without its secret",
    query,
    success: [200, one(authenticationTokenResource)],
    failures: [400, 404],
    handle: async (input): Promise<AuthenticationToken | undefined> => {
      const { token } = await input.client(TokenService).getOrganizationToken(
        {
          organizationId: await organizationIdOf(input, input.params.organizationName),
          slot: input.query.slot,
        },
        input.caller,
      );
      return token && { token };
    },
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path,
    summary: "Revoke the organization's token",
    query,
    success: [204],
    failures: [400, 404],
    handle: async (input) =>
      input.client(TokenService).deleteOrganizationToken(
        {
          organizationId: await organizationIdOf(input, input.params.organizationName),
          slot: input.query.slot,
        },
        input.caller,
      ),
  }),
];
