import { LockMode } from "@mikro-orm/core";
import { type EntityManager, queryIn } from "@statehouse/postgres";
import { noSuchOrganization, noSuchTeam } from "../domain/errors.ts";
import type { OrganizationId, TeamId } from "../domain/ids.ts";
import type { Organization } from "../domain/organization.ts";
import { organizationSchema } from "./entities.ts";

/** What belongs to an organization, in an order in which nothing refers to what is gone already. */
const belongings = [
  "tokens",
  "team_accesses",
  "team_members",
  "organization_memberships",
  "teams",
  "runs",
] as const;

const lockMode = LockMode.PESSIMISTIC_WRITE;

/** Organizations' rows inside a transaction. Lock order: organization, then users by id. */
export const organizationRows = (em: EntityManager) => ({
  async getForUpdate(id: OrganizationId): Promise<Organization> {
    const organization = await em.findOne(organizationSchema, { id }, { lockMode });
    if (!organization || organization.droppedAt) throw noSuchOrganization();
    return organization;
  },

  /** The organization that a team is of; a team never changes it. */
  async getForUpdateOfTeam(teamId: TeamId): Promise<Organization> {
    const [team] = await queryIn<{ id: string }>(
      em,
      // index: teams_pkey
      "select organization_id as id from teams where id = $1",
      [teamId],
    );
    if (!team) throw noSuchTeam();
    return this.getForUpdate(team.id);
  },

  /**
   * Leaves nothing but the row itself. Its members' versions need not grow: without the organization in
   * it, their vector is one that was never kept.
   */
  async drop(id: OrganizationId, at: Date): Promise<void> {
    const [organization] = await queryIn(
      em,
      // index: organizations_pkey
      `update organizations set dropped_at = $2, version = version + 1
       where id = $1 and dropped_at is null returning id`,
      [id, at],
    );
    if (!organization) return;
    for (const table of belongings) {
      // index: by organization on each of them
      await queryIn(em, `delete from ${table} where organization_id = $1`, [id]);
    }
  },

  /** False when the row is there already, committed by somebody else; waits for who is at it. */
  async addIfAbsent({
    id,
    version,
    provisionedVersion,
    createdAt,
  }: Pick<Organization, "id" | "version" | "provisionedVersion" | "createdAt">): Promise<boolean> {
    const rows = await queryIn(
      em,
      `insert into organizations (id, version, provisioned_version, created_at)
       values ($1, $2, $3, $4) on conflict (id) do nothing returning id`,
      [id, String(version), String(provisionedVersion), createdAt],
    );
    return rows.length > 0;
  },
});
