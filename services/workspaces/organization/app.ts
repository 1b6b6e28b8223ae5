import { allowed, authorize, type Caller, grantsOf } from "@statehouse/authorization";
import { type AppError, asRefusal, Problems } from "@statehouse/errors";
import { newId } from "@statehouse/postgres/ids";
import { type WithAllowedActions, withOrganizationActions } from "../allowed-actions-app.ts";
import type { App } from "../app.ts";
import { nameTaken, takenText } from "../errors-domain.ts";
import type { OrganizationId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import type { UnprovisionedOrganization } from "../pending-sync/store.ts";
import { defaultProject } from "../project/domain.ts";
import { touch } from "../revision-domain.ts";
import {
  applyOrganizationSettings,
  changesCredentials,
  newOrganization,
  type Organization,
  type OrganizationSettings,
  type OrganizationView,
  organizationCreatorNotUser,
  organizationNotFound,
  problemOfOrganizationName,
} from "./domain.ts";
import {
  type OrganizationBilling,
  type OrganizationSearch,
  organizationCreated,
  organizationUpdated,
} from "./store.ts";

/** The values of an organization in a request. */
export interface OrganizationInput {
  settings: OrganizationSettings;
  /** If true, validates the request, changes nothing, and returns the object as it would be after the change. */
  validateOnly: boolean;
}

type NewInput = OrganizationInput & { name: string };

/**
 * Creates an organization with its default project and, in the access service, its owners team. If a creation was
 * interrupted or failed with `unavailable`, a repeat by the same user completes it.
 */
export async function createOrganization(
  app: App,
  caller: Caller,
  input: NewInput,
): Promise<WithAllowedActions<OrganizationView>> {
  const { principal } = grantsOf(caller);
  if (principal.type !== "user") throw organizationCreatorNotUser();
  const { validateOnly, ...fields } = input;
  const organization = await app.transaction((tx) => commit(app, tx, principal.id, fields), {
    validateOnly,
  });
  if (!validateOnly) {
    const { id: organizationId, revision: version } = organization;
    await syncOrganization(app, { ...organization, organizationId, version });
  }
  return withOrganizationActions(asOwner(caller, organization.id))({
    ...organization,
    dataRetentionPolicy: null,
    siteDataRetentionPolicy: (await app.reads.dataRetentionPolicies.effective(null, null)) ?? null,
    projectCount: 1,
    workspaceCount: 0,
  });
}

/** Throws `notFound` if the caller does not belong to the organization. */
export async function getOrganization(
  app: App,
  caller: Caller,
  name: string,
): Promise<WithAllowedActions<OrganizationView>> {
  const organization = await app.reads.organizations.findByName(name);
  if (!organization) throw organizationNotFound();
  authorize(caller, "organization:read", { organizationId: organization.id });
  return withOrganizationActions(caller)(organization);
}

/**
 * Returns a page of the matching organizations that the caller belongs to, ordered by name. If `page` is undefined,
 * returns all of them.
 */
export async function listOrganizations(
  app: App,
  caller: Caller,
  filter: Omit<OrganizationSearch, "ids">,
): Promise<{ organizations: WithAllowedActions<OrganizationView>[]; total: number }> {
  const search = { ...filter, ids: readableOrganizations(caller) };
  const { rows, total } = await app.reads.organizations.page(search);
  return { organizations: rows.map(withOrganizationActions(caller)), total };
}

/**
 * Changes the organization's name and the settings that the request contains. Throws `invalid` with all problems of the
 * request.
 */
export async function updateOrganization(
  app: App,
  caller: Caller,
  name: string,
  { newName, settings, validateOnly }: OrganizationInput & { newName: string | undefined },
): Promise<WithAllowedActions<OrganizationView>> {
  const updated = await app.transaction(
    async (tx) => {
      const organization = await tx.organizations.getByNameForUpdate(name);
      const { id } = organization;
      authorize(caller, "organization:update", { organizationId: id });
      const problems = new Problems();
      if (newName !== undefined && newName !== name) {
        const taken = await tx.organizations.nameTaken(newName, id);
        const problem = problemOfOrganizationName(newName) ?? (taken ? takenText : undefined);
        if (problem !== undefined) problems.add("name", problem);
        organization.name = newName;
      }
      const poolKnown = await tx.agentPools.isKnown(settings.defaultAgentPoolId, id);
      applyOrganizationSettings(organization, settings, { problems, poolKnown });
      problems.throwIfAny();
      touch(organization, app.now());
      await tx.record(organizationUpdated(organization));
      return tx.organizations.commit(organization);
    },
    { validateOnly },
  );
  // The access service is called even if nothing changed, so that a repeated request completes an interrupted call.
  if (changesCredentials(settings) && !validateOnly) {
    await syncCredentialSettings(app, updated.id);
  }
  return withOrganizationActions(caller)(updated);
}

/** Returns the organizations among `ids` that the caller belongs to. */
export async function batchGetOrganizations(
  app: App,
  caller: Caller,
  ids: readonly string[],
): Promise<WithAllowedActions<OrganizationView>[]> {
  const readable = new Set(readableOrganizations(caller));
  const own = ids.filter((id) => readable.has(id));
  return (await app.reads.organizations.batch(own)).map(withOrganizationActions(caller));
}

/** Creates the organization in the access service, with its owners and settings, then makes it visible. */
export async function syncOrganization(
  app: App,
  organization: UnprovisionedOrganization,
): Promise<void> {
  await app.access.provisionOrganization(organization);
  await app.leases.pendingSyncs.markOrganizationProvisioned(organization.organizationId);
}

/** Sends the access service the organization's settings that restrict credentials. */
export async function syncCredentialSettings(app: App, organizationId: string): Promise<void> {
  const settings = await app.reads.organizations.findCredentialSettings(organizationId);
  if (settings) await app.access.setOrganizationSettings(settings);
}

async function commit(
  app: App,
  tx: Tx,
  creatorUserId: string,
  input: Omit<NewInput, "validateOnly">,
): Promise<Organization> {
  const now = app.now();
  const organization = newOrganization(
    {
      ...input,
      id: newId("org"),
      defaultProjectId: newId("prj"),
      creatorUserId,
      defaultExecutionMode: app.settings.defaultExecutionMode,
    },
    now,
  );
  const holder = await tx.organizations.findByNameForUpdate(input.name);
  if (holder) {
    const unfinished = holder.status === "provisioning" && holder.creatorUserId === creatorUserId;
    if (!unfinished) throw nameTaken();
    return holder;
  }
  tx.organizations.save(organization);
  tx.projects.save(defaultProject(organization.defaultProjectId, organization.id, now));
  await tx.record(organizationCreated(organization));
  return organization;
}

function readableOrganizations(caller: Caller): string[] {
  const grants = grantsOf(caller);
  return [...grants.organizations.keys()].filter((organizationId) =>
    allowed(grants, "organization:read", { organizationId }),
  );
}

/**
 * Returns the caller with owner grants in the new organization, because the caller's grants were read before the
 * organization existed.
 */
function asOwner(caller: Caller, organizationId: OrganizationId): Caller {
  if (caller.kind !== "principal") return caller;
  const organizations = new Map(caller.grants.organizations).set(organizationId, {
    organizationId,
    owner: true,
    organizationAccess: new Set(),
    teamIds: [],
    projects: new Map(),
    workspaces: new Map(),
    refused: false,
  });
  return { ...caller, grants: { ...caller.grants, organizations } };
}

/** Called by the access service: returns the name of an organization. Throws `notFound`. */
export async function getOrganizationName(app: App, id: OrganizationId): Promise<string> {
  const [organization] = await app.reads.organizations.batch([id]);
  if (!organization) throw organizationNotFound();
  return organization.name;
}

/**
 * Called by the state service: returns, for each organization among `ids` that exists, whether it is billed by usage.
 */
export const batchGetBilling = (app: App, ids: readonly string[]): Promise<OrganizationBilling[]> =>
  app.reads.organizations.batchBilling(ids);

/**
 * Returns the `notFound` error of a list whose organization does not exist or is hidden from the caller. If the
 * organization exists, the error is also recorded as a refused attempt; the response is the same.
 */
export async function organizationHidden(app: App, name: string): Promise<AppError> {
  const organization = await app.reads.organizations.findByName(name);
  const error = organizationNotFound();
  return organization ? asRefusal(error, { organizationId: organization.id }) : error;
}
