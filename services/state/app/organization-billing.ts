import type { OrganizationBilling } from "../store/organization-billing.ts";
import type { App } from "./app.ts";

/** How an organization is billed, told by workspaces; older news changes nothing. */
export const setOrganizationBilling = (app: App, billing: OrganizationBilling): Promise<void> =>
  app.transaction((tx) => tx.setBilling(billing));

/** The organization is gone. */
export const forgetOrganizationBilling = (app: App, organizationId: string): Promise<void> =>
  app.transaction((tx) => tx.removeBilling(organizationId));
