import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { longLivedCredentials } from "../http/authentication.ts";
import { parameter } from "../http/query.ts";
import { one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import {
  type AuthenticationToken,
  authenticationTokenResource,
} from "../resources/authentication-tokens.ts";
import { organizationIdOf } from "./organization-name.ts";
import { expiryOf, tokenBody } from "./token-body.ts";

const path = "/organizations/:organizationName/authentication-token";

/** Returns the slot of the token. `token=audit-trails` selects the audit trails token. */
const slotOf = (query: URLSearchParams): string => parameter(query, "token") ?? "";

export const organizationTokenRoutes: readonly Route[] = [
  route({
    method: "POST",
    path,
    summary: "Create the organization's token, replacing the previous one",
    body: tokenBody,
    success: [201, one(authenticationTokenResource)],
    failures: [400, 404, 422],
    credentials: longLivedCredentials,
    handle: async (input): Promise<AuthenticationToken | undefined> => {
      const { token, secret } = await input.client(TokenService).createOrganizationToken(
        {
          organizationId: await organizationIdOf(input, input.params.organizationName),
          slot: slotOf(input.query),
          ...expiryOf(input.body),
        },
        input.caller,
      );
      return token && { token, secret };
    },
  }),
  route({
    method: "GET",
    path,
    summary: "Show the organization's token, without its secret",
    success: [200, one(authenticationTokenResource)],
    failures: [400, 404],
    credentials: longLivedCredentials,
    handle: async (input): Promise<AuthenticationToken | undefined> => {
      const { token } = await input.client(TokenService).getOrganizationToken(
        {
          organizationId: await organizationIdOf(input, input.params.organizationName),
          slot: slotOf(input.query),
        },
        input.caller,
      );
      return token && { token };
    },
  }),
  route({
    method: "DELETE",
    path,
    summary: "Revoke the organization's token",
    success: [204],
    failures: [400, 404],
    credentials: longLivedCredentials,
    handle: async (input) =>
      input.client(TokenService).deleteOrganizationToken(
        {
          organizationId: await organizationIdOf(input, input.params.organizationName),
          slot: slotOf(input.query),
        },
        input.caller,
      ),
  }),
];
