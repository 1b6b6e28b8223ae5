import { nextVersion } from "@statehouse/events/version";
import { newId } from "@statehouse/postgres/ids";
import type { OrganizationId, TeamId, UserId } from "../domain/ids.ts";
import { Organization } from "../domain/organization.ts";
import { OWNERS, Team } from "../domain/team.ts";
import { TeamMember } from "../domain/team-member.ts";
import { bump } from "../domain/version.ts";
import type { App } from "./app.ts";
import { activeMembership } from "./organization-membership.ts";

export interface ProvisionOrganization {
  organizationId: OrganizationId;
  creatorUserId: UserId;
  /** Version of the row in workspaces. */
  version: bigint;
}

/**
 * Creates an organization's row and its team `owners` with the creator as member, and returns the team's id. A repeat,
 * with any creator, changes neither team nor members. Throws `notFound` for an unknown creator.
 */
export const provisionOrganization = (
  app: App,
  { organizationId, creatorUserId, version }: ProvisionOrganization,
): Promise<TeamId> =>
  app.transaction(async (tx) => {
    const at = app.now();
    const revision = nextVersion(0n, at);
    const isNew = await tx.organizations.addIfAbsent(
      new Organization({
        id: organizationId,
        version: revision,
        provisionedVersion: version,
        userTokensEnabled: true,
        settingsVersion: 0n,
        createdAt: at,
        droppedAt: null,
      }),
    );
    if (!isNew) {
      const organization = await tx.organizations.getForUpdate(organizationId);
      if (version > organization.provisionedVersion) organization.provisionedVersion = version;
      return (await tx.teams.ownersOf(organizationId)).id;
    }
    const creator = await tx.users.getForUpdate(creatorUserId);
    bump(creator, at);
    const team = new Team({
      id: newId("team"),
      organizationId,
      name: OWNERS,
      visibility: "secret",
      organizationAccess: [],
      owners: true,
      ssoTeamId: null,
      allowMemberTokenManagement: true,
      createdAt: at,
    });
    const member = new TeamMember({
      teamId: team.id,
      userId: creator.id,
      organizationId,
      createdAt: at,
    });
    await tx.teams.add(team);
    await tx.memberships.add(activeMembership(organizationId, creator.id, at));
    await tx.teamMembers.add(member);
    await tx.record({ type: "teamCreated", team, revision });
    await tx.record({ type: "teamMemberAdded", member, revision });
    return team.id;
  });

/**
 * Deletes everything of an organization, including its grants, and keeps a tombstone that rejects a late provisioning.
 * A repeat changes nothing.
 */
export const dropOrganization = (app: App, organizationId: OrganizationId): Promise<void> =>
  app.transaction(async (tx) => {
    const at = app.now();
    const revision = nextVersion(0n, at);
    await tx.organizations.addIfAbsent(
      new Organization({
        id: organizationId,
        version: revision,
        provisionedVersion: 0n,
        userTokensEnabled: true,
        settingsVersion: 0n,
        createdAt: at,
        droppedAt: null,
      }),
    );
    await tx.organizations.drop(organizationId, at);
  });

export interface OrganizationSettings {
  organizationId: OrganizationId;
  userTokensEnabled: boolean;
  /** Version of the row in workspaces; only higher ones apply. */
  version: bigint;
}

/** Stores the organization settings that restrict credentials. Throws `notFound`. */
export const setOrganizationSettings = (
  app: App,
  { organizationId, userTokensEnabled, version }: OrganizationSettings,
): Promise<void> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(organizationId);
    if (version <= organization.settingsVersion) return;
    organization.settingsVersion = version;
    if (organization.userTokensEnabled === userTokensEnabled) return;
    organization.userTokensEnabled = userTokensEnabled;
    bump(organization, app.now());
  });
