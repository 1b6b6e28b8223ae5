import type { App } from "../app.ts";
import type { OrganizationId, TeamId, UserId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { newOrganizationMembership } from "../organization-membership/domain.ts";
import { organizationMembershipActivated } from "../organization-membership/store.ts";
import { newTeam, OWNERS } from "../team/domain.ts";
import { teamCreated } from "../team/store.ts";
import { newTeamMember } from "../team-member/domain.ts";
import { teamMemberAdded } from "../team-member/store.ts";
import { touch } from "../version-domain.ts";
import {
  applyCredentialSettings,
  type CredentialSettings,
  newOrganization,
  type Organization,
} from "./domain.ts";

export interface OrganizationSettings extends CredentialSettings {
  organizationId: OrganizationId;
  /**
   * Version of the organization's row in the workspaces service. Settings are ignored if this version is not higher
   * than the stored one.
   */
  version: bigint;
}

/**
 * Creates an organization's row with its settings, and its owners team with the creator as a member. Returns the team's
 * id. The team and the settings are stored in one commit, so that a token that the settings exclude is never accepted.
 * A repeat stores newer settings, but changes neither the team nor its members, even if it names another creator.
 * Throws `notFound` for an unknown creator.
 */
export const provisionOrganization = (
  app: App,
  {
    organizationId,
    creatorUserId,
    version,
    ...settings
  }: OrganizationSettings & { creatorUserId: UserId },
): Promise<TeamId> =>
  app.transaction(async (tx) => {
    const at = app.now();
    const created = newOrganization(organizationId, version, at, settings);
    if (!(await tx.organizations.addIfAbsent(created))) {
      const organization = await tx.organizations.getForUpdate(organizationId);
      if (version > organization.provisionedVersion) {
        organization.provisionedVersion = version;
        tx.organizations.save(organization);
      }
      await storeSettings(app, tx, organization, { version, ...settings });
      return (await tx.teams.get({ organizationId, owners: true })).id;
    }
    const creator = await tx.users.getForUpdate(creatorUserId);
    touch(creator, at);
    const team = newTeam({ organizationId, name: OWNERS, owners: true, createdAt: at });
    const userId = creator.id;
    const membership = newOrganizationMembership({
      organizationId,
      userId,
      status: "active",
      createdAt: at,
    });
    const member = newTeamMember(team, userId, at);
    tx.teams.save(team);
    tx.memberships.save(membership);
    tx.teamMembers.save(member);
    await tx.record(teamCreated(team, created.version));
    await tx.record(organizationMembershipActivated(membership, created.version));
    await tx.record(teamMemberAdded(member, created.version));
    return team.id;
  });

/**
 * Deletes all data of an organization in this service, including its grants. A tombstone remains, so that a delayed
 * creation cannot create the organization again. Repeating the call changes nothing.
 */
export const dropOrganization = (app: App, organizationId: OrganizationId): Promise<void> =>
  app.transaction(async (tx) => {
    const at = app.now();
    await tx.organizations.addIfAbsent(newOrganization(organizationId, 0n, at));
    const organization = await tx.organizations.getEvenDroppedForUpdate(organizationId);
    if (organization.droppedAt) return;
    organization.droppedAt = at;
    // The members' own versions need not grow: their version vectors change anyway, because they no longer contain this
    // organization.
    touch(organization, at);
    tx.organizations.save(organization);
    await tx.organizations.removeContents(organizationId);
  });

/** Stores the organization's settings that restrict credentials. Throws `notFound` for an unknown organization. */
export const setOrganizationSettings = (
  app: App,
  { organizationId, ...settings }: OrganizationSettings,
): Promise<void> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(organizationId);
    await storeSettings(app, tx, organization, settings);
  });

async function storeSettings(
  app: App,
  tx: Tx,
  organization: Organization,
  { version, ...settings }: Omit<OrganizationSettings, "organizationId">,
): Promise<void> {
  if (version <= organization.settingsVersion) return;
  organization.settingsVersion = version;
  if (applyCredentialSettings(organization, settings)) touch(organization, app.now());
  tx.organizations.save(organization);
}
