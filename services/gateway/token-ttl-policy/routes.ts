import { TokenTtlPolicyService } from "@statehouse/proto/statehouse/access/v1/token_ttl_policy";
import { page } from "../http/paging.ts";
import { list } from "../http/rendering.ts";
import { type Route, routeForLongLivedCredentials } from "../http/route.ts";
import { bodyOf } from "../jsonapi/noun.ts";
import { organizationIdOf } from "../organization/name-routes.ts";
import { tokenTtlPoliciesNoun, tokenTtlPolicyResource } from "./resource.ts";

const path = "/organizations/:organizationName/token-ttl-policies";

export const tokenTtlPolicyRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "GET",
    path,
    summary: "List the maximum lifetimes of an organization's tokens",
    query: { page },
    success: [200, list(tokenTtlPolicyResource, "tokenTtlPolicies")],
    failures: [400, 404],
    handle: async (input) =>
      input
        .client(TokenTtlPolicyService)
        .listTokenTtlPolicies(
          { organizationId: await organizationIdOf(input), ...input.query.page },
          input.caller,
        ),
  }),
  routeForLongLivedCredentials({
    method: "PATCH",
    path,
    summary: "Change the maximum lifetimes of an organization's tokens",
    ...bodyOf(tokenTtlPoliciesNoun, ["token-ttl-policies"]),
    success: [200, list(tokenTtlPolicyResource, "tokenTtlPolicies")],
    failures: [404, 422],
    handle: async (input) => {
      const { tokenTtlPolicies } = await input
        .client(TokenTtlPolicyService)
        .updateTokenTtlPolicies(
          { ...input.body, organizationId: await organizationIdOf(input) },
          input.caller,
        );
      return { tokenTtlPolicies, totalCount: tokenTtlPolicies.length };
    },
  }),
];
