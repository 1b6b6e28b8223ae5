import { type EventHandlers, on } from "@statehouse/events";
import {
  OrganizationDeletedSchema,
  OrganizationUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app/app.ts";
import { removeOrganizationBilling, setOrganizationBilling } from "../app/organization-billing.ts";

/** Stores how organizations are billed; documents of state versions show it. */
export const organizationHandlers = (app: App): EventHandlers => ({
  ...on(OrganizationUpdatedSchema, ({ organizationId, usageBasedBilling, revision }) =>
    setOrganizationBilling(app, { organizationId, usageBased: usageBasedBilling, revision }),
  ),
  ...on(OrganizationDeletedSchema, ({ organizationId }) =>
    removeOrganizationBilling(app, organizationId),
  ),
});
