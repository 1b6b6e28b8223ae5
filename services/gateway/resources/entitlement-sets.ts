import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";

/** The features that an organization may use. */
export interface EntitlementSet {
  organizationName: string;
  /**
   * True only if a runner service executes runs. Otherwise the CLI's `remote` and `cloud` backends execute runs
   * locally.
   */
  operations: boolean;
}

export const entitlementSetResource = resource<EntitlementSet, RequestContext>({
  type: "entitlement-sets",
  id: ({ organizationName }) => organizationName,
  attributes: ({ operations }) => ({
    operations,
    "state-storage": true,
    teams: true,
    agents: operations,
    "vcs-integrations": false,
    "cost-estimation": false,
    "configuration-designer": false,
    "private-module-registry": false,
    sentinel: false,
    "run-tasks": false,
    "global-run-tasks": false,
    "private-run-tasks": false,
    "audit-logging": false,
    sso: false,
    "usage-reporting": false,
    "self-serve-billing": false,
    "user-limit": null,
  }),
  links: ({ organizationName }) => ({
    self: `/api/v2/organizations/${organizationName}/entitlement-set`,
  }),
});
