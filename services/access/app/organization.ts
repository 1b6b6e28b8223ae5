import type { OrganizationId, TeamId, UserId } from "../domain/ids.ts";
import {
  applyCredentialSettings,
  type CredentialSettings,
  newOrganization,
} from "../domain/organization.ts";
import { newOrganizationMembership } from "../domain/organization-membership.ts";
import { newTeam, OWNERS, teamCreated } from "../domain/team.ts";
import { TeamMember, teamMemberAdded } from "../domain/team-member.ts";
import { touch } from "../domain/version.ts";
import type { App } from "./app.ts";

export interface ProvisionOrganization {
  organizationId: OrganizationId;
  creatorUserId: UserId;
  /** Version of the organization's row in the service workspaces. */
  version: bigint;
}

/**
 * Creates an organization's row and its team `owners` with the creator as a member, and returns the team's id. A
 * repeat changes neither team nor members, even if it names another creator. Throws `notFound` for an unknown
 * creator.
 */
export const provisionOrganization = (
  app: App,
  { organizationId, creatorUserId, version }: ProvisionOrganization,
): Promise<TeamId> =>
  app.transaction(async (tx) => {
    const at = app.now();
    const created = newOrganization(organizationId, version, at);
    if (!(await tx.organizations.addIfAbsent(created))) {
      const organization = await tx.organizations.getForUpdate(organizationId);
      if (version > organization.provisionedVersion) {
        organization.provisionedVersion = version;
        await tx.organizations.save(organization);
      }
      return (await tx.teams.getOwners(organizationId)).id;
    }
    const creator = await tx.users.getForUpdate(creatorUserId);
    touch(creator, at);
    const team = newTeam({ organizationId, name: OWNERS, owners: true, createdAt: at });
    const userId = creator.id;
    const member = new TeamMember({ teamId: team.id, userId, organizationId, createdAt: at });
    await tx.teams.save(team);
    await tx.memberships.save(
      newOrganizationMembership({ organizationId, userId, status: "active", createdAt: at }),
    );
    await tx.teamMembers.save(member);
    await tx.record(teamCreated(team, created.version));
    await tx.record(teamMemberAdded(member, created.version));
    return team.id;
  });

/**
 * Deletes everything that this service stores of an organization, including its grants, and keeps a tombstone, so
 * that a delayed creation cannot create the organization again. A repeat changes nothing.
 */
export const dropOrganization = (app: App, organizationId: OrganizationId): Promise<void> =>
  app.transaction(async (tx) => {
    const at = app.now();
    await tx.organizations.addIfAbsent(newOrganization(organizationId, 0n, at));
    const organization = await tx.organizations.getEvenDroppedForUpdate(organizationId);
    if (organization.droppedAt) return;
    organization.droppedAt = at;
    // The versions of its members need not grow: their cached version vectors do not contain the new organization.
    touch(organization, at);
    await tx.organizations.save(organization);
    await tx.organizations.removeContents(organizationId);
  });

export interface OrganizationSettings extends CredentialSettings {
  organizationId: OrganizationId;
  /** Version of the organization's row in the service workspaces; only higher versions apply. */
  version: bigint;
}

/** Stores the organization's settings that restrict credentials. Throws `notFound`. */
export const setOrganizationSettings = (
  app: App,
  { organizationId, version, ...settings }: OrganizationSettings,
): Promise<void> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(organizationId);
    if (version <= organization.settingsVersion) return;
    organization.settingsVersion = version;
    if (applyCredentialSettings(organization, settings)) touch(organization, app.now());
    await tx.organizations.save(organization);
  });
