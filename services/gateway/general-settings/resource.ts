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
  attributes: {
    "default-remote-state-access": [
      z.boolean(),
      ({ defaultRemoteStateAccess }) => defaultRemoteStateAccess,
    ],
    "limit-user-organization-creation": [z.boolean(), () => false],
    "api-rate-limiting-enabled": [z.boolean(), () => false],
    "api-rate-limit": [z.int(), () => 0],
    "plan-timeout": [z.string(), ({ planTimeout }) => planTimeout],
    "apply-timeout": [z.string(), ({ applyTimeout }) => applyTimeout],
    "send-passing-statuses-for-untriggered-speculative-plans": [z.boolean(), () => false],
    "allow-speculative-plans-on-pull-requests-from-forks": [z.boolean(), () => false],
  },
  links: () => ({ self: "/api/v2/admin/general-settings" }),
});
