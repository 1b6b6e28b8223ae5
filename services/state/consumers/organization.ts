import { type EventHandlers, on } from "@statehouse/events";
import {
  OrganizationDeletedSchema,
  OrganizationUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app/app.ts";
import { forgetOrganizationBilling, setOrganizationBilling } from "../app/organization-billing.ts";

/** What of organizations shows in documents of states. */
export const organizationHandlers = (app: App): EventHandlers => ({
  ...on(OrganizationUpdatedSchema, ({ organizationId, usageBasedBilling, revision }) =>
    setOrganizationBilling(app, { organizationId, usageBased: usageBasedBilling, revision }),
  ),
  ...on(OrganizationDeletedSchema, ({ organizationId }) =>
    forgetOrganizationBilling(app, organizationId),
  ),
});
