import { type Caller, requireAdministrator } from "@statehouse/authorization";
import { Problems } from "@statehouse/errors";
import type { Page } from "@statehouse/postgres/paging";
import type {
  AdministeredWorkspace,
  AdministeredWorkspaceSearch,
} from "../administered-workspace/store.ts";
import { type WithAllowedActions, withOrganizationActions } from "../allowed-actions-app.ts";
import type { App } from "../app.ts";
import { changeRetention } from "../data-retention-policy/app.ts";
import type { GeneralSettings } from "../general-settings/domain.ts";
import type { Tx } from "../nouns.ts";
import { type OrganizationView, organizationNotFound } from "../organization/domain.ts";
import { isPlan, planUnknown } from "../organization/plan-domain.ts";
import { type OrganizationsOfAll, organizationUpdated } from "../organization/store.ts";
import { deleteOrganizationIf } from "../organization-deletion/app.ts";
import { touch } from "../revision-domain.ts";
import type { RunView } from "../run/domain.ts";
import { checkRunTimeouts } from "../run/timeout-domain.ts";

/**
 * Returns the settings of the installation. Like all functions of this file, throws `notFound` if the caller is not an
 * administrator.
 */
export async function getGeneralSettings(app: App, caller: Caller): Promise<GeneralSettings> {
  requireAdministrator(caller);
  return app.reads.generalSettings.get();
}

/** Changes the settings in `input`; undefined settings keep their value. Throws `invalid` if a timeout is invalid. */
export const updateGeneralSettings = (
  app: App,
  caller: Caller,
  input: { [Name in Exclude<keyof GeneralSettings, "id">]: GeneralSettings[Name] | undefined },
): Promise<GeneralSettings> => {
  requireAdministrator(caller);
  const problems = new Problems();
  checkRunTimeouts(input, problems);
  problems.throwIfAny();
  return app.transaction(async (tx) => {
    const settings = await tx.generalSettings.getForUpdate({ id: true });
    const before = { ...settings };
    settings.defaultRemoteStateAccess =
      input.defaultRemoteStateAccess ?? before.defaultRemoteStateAccess;
    settings.planTimeout = input.planTimeout ?? before.planTimeout;
    settings.applyTimeout = input.applyTimeout ?? before.applyTimeout;
    tx.generalSettings.save(settings);
    const names = Object.keys(before) as (keyof GeneralSettings)[];
    await tx.audit({
      action: "general-settings.update",
      resource: { type: "general-settings" },
      changedAttributes: names.filter((name) => settings[name] !== before[name]),
    });
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

/** A workspace of any organization, with the organization and the current run. */
export interface AdministeredWorkspaceView extends AdministeredWorkspace {
  organization: WithAllowedActions<OrganizationView> | undefined;
  currentRun: RunView | undefined;
}

/** Returns a page of the workspaces of all organizations. */
export async function listAllWorkspaces(
  app: App,
  caller: Caller,
  search: AdministeredWorkspaceSearch,
): Promise<Page<AdministeredWorkspaceView>> {
  requireAdministrator(caller);
  const { rows, total } = await app.reads.administeredWorkspaces.page(search);
  const [organizations, runs] = await Promise.all([
    app.reads.organizations.batch([...new Set(rows.map(({ organizationId }) => organizationId))]),
    app.reads.runs.batch(rows.flatMap(({ currentRunId }) => currentRunId ?? [])),
  ]);
  const organizationOf = new Map(
    organizations.map(withOrganizationActions(caller)).map((one) => [one.id, one]),
  );
  const runOf = new Map(runs.map((run) => [run.id, run]));
  const workspaces = rows.map((workspace) => ({
    ...workspace,
    organization: organizationOf.get(workspace.organizationId),
    currentRun: workspace.currentRunId === null ? undefined : runOf.get(workspace.currentRunId),
  }));
  return { rows: workspaces, total };
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
 * Deletes an organization in the same way as `deleteOrganization`. Throws `notFound` if it does not exist, and
 * `unavailable` if another service does not respond.
 */
export const deleteAnyOrganization = async (
  app: App,
  caller: Caller,
  name: string,
): Promise<void> => {
  requireAdministrator(caller);
  await deleteOrganizationIf(app, caller, name, () => requireAdministrator(caller));
};

/**
 * Changes an organization's plan and its workspace limit; an undefined value keeps the stored one, and null removes the
 * limit. Throws `invalid` for an unknown plan. If the request contains a plan, throws `unavailable` if the state
 * service has not confirmed the change; the change is then already stored, and a repeat of the request completes it.
 */
export const updateAnyOrganization = async (
  app: App,
  caller: Caller,
  { name, plan, workspaceLimit }: AnyOrganizationChanges,
): Promise<WithAllowedActions<OrganizationView>> => {
  requireAdministrator(caller);
  if (plan !== undefined && !isPlan(plan)) throw planUnknown();
  const update = async (tx: Tx) => {
    const organization = await tx.organizations.getByNameForUpdate(name);
    if (plan !== undefined) organization.plan = plan;
    if (workspaceLimit !== undefined) organization.workspaceLimit = workspaceLimit;
    touch(organization, app.now());
    tx.organizations.save(organization);
    await tx.record(organizationUpdated(organization));
    return withOrganizationActions(caller)(await tx.organizations.view(organization.id));
  };
  return plan === undefined ? app.transaction(update) : changeRetention(app, update);
};

interface AnyOrganizationChanges {
  name: string;
  plan: string | undefined;
  workspaceLimit: number | null | undefined;
}
