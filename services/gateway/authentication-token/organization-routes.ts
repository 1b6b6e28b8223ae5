import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { text, type ValuesOf } from "../http/query.ts";
import { one } from "../http/rendering.ts";
import { type Route, type RouteInput, routeForLongLivedCredentials } from "../http/route.ts";
import { organizationIdOf } from "../organization/name-routes.ts";
import { tokenBody } from "./body-routes.ts";
import { authenticationTokenResource, withSecret } from "./resource.ts";

const path = "/organizations/:organizationName/authentication-token";

const query = {
  slot: text("token", "`audit-trails` selects the audit trails token."),
};

/** Returns the fields that identify one of the organization's tokens. */
const tokenOf = async (input: RouteInput<typeof path, unknown, ValuesOf<typeof query>>) => ({
  organizationId: await organizationIdOf(input),
  slot: input.query.slot,
});

export const organizationTokenRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "POST",
    path,
    summary: "Create the organization's token, replacing the previous one",
    body: tokenBody,
    query,
    success: [201, one(authenticationTokenResource, "token")],
    failures: [400, 404, 422],
    handle: async (input) => {
      const request = { ...(await tokenOf(input)), ...input.body };
      return withSecret(
        await input.client(TokenService).createOrganizationToken(request, input.caller),
      );
    },
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path,
    summary: "Show the organization's token, without its secret",
    query,
    success: [200, one(authenticationTokenResource, "token")],
    failures: [400, 404],
    handle: async (input) =>
      input.client(TokenService).getOrganizationToken(await tokenOf(input), input.caller),
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path,
    summary: "Revoke the organization's token",
    query,
    success: [204],
    failures: [400, 404],
    handle: async (input) =>
      input.client(TokenService).deleteOrganizationToken(await tokenOf(input), input.caller),
  }),
];
