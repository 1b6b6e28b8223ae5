import type { OrganizationBilling } from "../store/organization-billing.ts";
import type { App } from "./app.ts";

/** Stores how an organization is billed, unless a newer revision is stored. */
export const setOrganizationBilling = (app: App, billing: OrganizationBilling): Promise<void> =>
  app.transaction((tx) => tx.organizationBilling.set(billing));

/** Removes the billing of a deleted organization. */
export const removeOrganizationBilling = (app: App, organizationId: string): Promise<void> =>
  app.transaction((tx) => tx.organizationBilling.remove(organizationId));
