import type { GeneralSettings } from "@statehouse/proto/statehouse/workspaces/v1/admin";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";

/**
 * Settings that administrators change at run time. All other settings of the installation are environment variables.
 */
export const generalSettingsResource = resource<GeneralSettings, RequestContext>({
  type: "general-settings",
  id: () => "general-settings",
  shape: {
    "default-remote-state-access": z.boolean(),
    "limit-user-organization-creation": z.boolean(),
    "api-rate-limiting-enabled": z.boolean(),
    "api-rate-limit": z.int(),
    "plan-timeout": z.string(),
    "apply-timeout": z.string(),
    "send-passing-statuses-for-untriggered-speculative-plans": z.boolean(),
    "allow-speculative-plans-on-pull-requests-from-forks": z.boolean(),
  },
  attributes: ({ defaultRemoteStateAccess, planTimeout, applyTimeout }) => ({
    "default-remote-state-access": defaultRemoteStateAccess,
    "limit-user-organization-creation": false,
    "api-rate-limiting-enabled": false,
    "api-rate-limit": 0,
    "plan-timeout": planTimeout,
    "apply-timeout": applyTimeout,
    "send-passing-statuses-for-untriggered-speculative-plans": false,
    "allow-speculative-plans-on-pull-requests-from-forks": false,
  }),
  links: () => ({ self: "/api/v2/admin/general-settings" }),
});
