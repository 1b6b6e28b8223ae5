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

/** The features that this product does not have. */
const missing = [
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

export const entitlementSetResource = resource<EntitlementSet, RequestContext>({
  type: "entitlement-sets",
  id: ({ organizationName }) => organizationName,
  attributes: {
    operations: [z.boolean(), ({ operations }) => operations],
    "state-storage": [z.boolean(), () => true],
    teams: [z.boolean(), () => true],
    agents: [z.boolean(), ({ operations }) => operations],
    ...Object.fromEntries(missing.map((name) => [name, [z.boolean(), () => false] as const])),
    "user-limit": [z.null(), () => null],
  },
  links: ({ organizationName }) => ({
    self: `/api/v2/organizations/${organizationName}/entitlement-set`,
  }),
});
