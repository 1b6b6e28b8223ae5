import { type Caller, requireAdministrator } from "@statehouse/authorization";
import {
  type OrganizationView,
  organizationNotFound,
  organizationUpdated,
} from "../domain/organization.ts";
import { isPlan, planUnknown } from "../domain/plan.ts";
import { touch } from "../domain/revision.ts";
import type { GeneralSettings } from "../store/general-settings.ts";
import type { OrganizationsOfAll } from "../store/organization.ts";
import { type WithAllowedActions, withOrganizationActions } from "./allowed-actions.ts";
import type { App } from "./app.ts";
import { changeRetention } from "./data-retention-policy.ts";

/**
 * Returns the settings of the installation. Like all functions of this file, throws `notFound` if the caller is not an
 * administrator.
 */
export async function getGeneralSettings(app: App, caller: Caller): Promise<GeneralSettings> {
  requireAdministrator(caller);
  return app.reads.generalSettings.get();
}

/** Changes the settings in `wanted`; absent settings keep their value. */
export const updateGeneralSettings = (
  app: App,
  caller: Caller,
  wanted: Partial<GeneralSettings>,
): Promise<GeneralSettings> => {
  requireAdministrator(caller);
  return app.transaction(async (tx) => {
    const settings = { ...(await tx.generalSettings.get()), ...wanted };
    await tx.generalSettings.set(settings);
    return settings;
  });
};

/** Returns a page of all organizations, including those that the caller does not belong to. */
export async function listAllOrganizations(
  app: App,
  caller: Caller,
  search: OrganizationsOfAll,
): Promise<{ organizations: WithAllowedActions<OrganizationView>[]; total: number }> {
  requireAdministrator(caller);
  const { rows, total } = await app.reads.organizations.pageOfAll(search);
  return { organizations: rows.map(withOrganizationActions(caller)), total };
}

/** Returns an organization. Throws `notFound` if it does not exist. */
export async function getAnyOrganization(
  app: App,
  caller: Caller,
  name: string,
): Promise<WithAllowedActions<OrganizationView>> {
  requireAdministrator(caller);
  const organization = await app.reads.organizations.findByName(name);
  if (!organization) throw organizationNotFound();
  return withOrganizationActions(caller)(organization);
}

/**
 * Changes an organization's plan. Throws `invalid` for an unknown plan, and `unavailable` until the state service has
 * confirmed that it uses the retention that follows from the plan.
 */
export const setOrganizationPlan = (
  app: App,
  caller: Caller,
  { name, plan }: { name: string; plan: string },
): Promise<WithAllowedActions<OrganizationView>> => {
  requireAdministrator(caller);
  if (!isPlan(plan)) throw planUnknown();
  return changeRetention(app, async (tx) => {
    const organization = await tx.organizations.getByNameForUpdate(name);
    organization.plan = plan;
    touch(organization, app.now());
    await tx.record(organizationUpdated(organization));
    return withOrganizationActions(caller)(await tx.organizations.view(organization.id));
  });
};
