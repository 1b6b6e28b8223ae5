import { z } from "zod";
import type { RequestContext, Settings } from "../http/route.ts";
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

/** Returns the entitlements of an organization, which are the same for all organizations. */
export const entitlementsOf = (
  organizationName: string,
  { remoteOperations: operations }: Settings,
): EntitlementSet => ({ organizationName, operations });

/** The features that entitlement sets name. */
const features = [
  "operations",
  "state-storage",
  "teams",
  "agents",
  "vcs-integrations",
  "private-vcs",
  "cost-estimation",
  "configuration-designer",
  "private-module-registry",
  "sentinel",
  "run-tasks",
  "global-run-tasks",
  "private-run-tasks",
  "private-policy-agents",
  "audit-logging",
  "sso",
  "usage-reporting",
  "self-serve-billing",
] as const;

const nothing = Object.fromEntries(features.map((name) => [name, false]));

export const entitlementSetResource = resource<EntitlementSet, RequestContext>({
  type: "entitlement-sets",
  id: ({ organizationName }) => organizationName,
  shape: {
    ...Object.fromEntries(features.map((name) => [name, z.boolean()])),
    "user-limit": z.null(),
  },
  attributes: ({ operations }) => ({
    ...nothing,
    operations,
    "state-storage": true,
    teams: true,
    agents: operations,
    "user-limit": null,
  }),
  links: ({ organizationName }) => ({
    self: `/api/v2/organizations/${organizationName}/entitlement-set`,
  }),
});
