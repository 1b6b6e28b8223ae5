import { OrganizationService } from "@statehouse/proto/statehouse/workspaces/v1/organization";
import { one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { entitlementSetResource, entitlementsOf } from "./resource.ts";

export const entitlementSetRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/organizations/:organizationName/entitlement-set",
    summary: "Show an organization's entitlements",
    success: [200, one(entitlementSetResource, "entitlementSet")],
    failures: [404],
    handle: async ({ client, settings, params, caller }) => {
      const name = params.organizationName;
      const { organization } = await client(OrganizationService).getOrganization({ name }, caller);
      if (!organization) throw new Error("no organization in the service's response");
      return { entitlementSet: entitlementsOf(organization.name, settings) };
    },
  }),
];
