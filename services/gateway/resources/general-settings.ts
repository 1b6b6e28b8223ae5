import type { GeneralSettings } from "@statehouse/proto/statehouse/workspaces/v1/admin";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";

/**
 * Settings that administrators change at run time. All other settings of the installation are environment variables.
 */
export const generalSettingsResource = resource<GeneralSettings, RequestContext>({
  type: "general-settings",
  id: () => "general-settings",
  attributes: ({ defaultRemoteStateAccess }) => ({
    "default-remote-state-access": defaultRemoteStateAccess,
    "limit-user-organization-creation": false,
    "api-rate-limiting-enabled": false,
    "api-rate-limit": 0,
    "send-passing-statuses-for-untriggered-speculative-plans": false,
    "allow-speculative-plans-on-pull-requests-from-forks": false,
  }),
  links: () => ({ self: "/api/v2/admin/general-settings" }),
});
