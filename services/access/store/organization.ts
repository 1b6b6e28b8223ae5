import { EntitySchema, LockMode } from "@mikro-orm/core";
import { type EntityManager, queryIn } from "@statehouse/postgres";
import { bigint, boolean, optional, primaryKey, timestamptz } from "@statehouse/postgres/columns";
import { organizationNotFound } from "../domain/errors.ts";
import type { OrganizationId } from "../domain/ids.ts";
import { Organization } from "../domain/organization.ts";

const columns = {
  id: primaryKey,
  version: bigint,
  provisionedVersion: bigint,
  userTokensEnabled: boolean,
  maxTtlEnabled: boolean,
  settingsVersion: bigint,
  createdAt: timestamptz,
  droppedAt: optional(timestamptz),
};

const entity = new EntitySchema({
  class: Organization,
  tableName: "organizations",
  properties: columns,
});

/**
 * Reads and writes organizations, inside a transaction. Rows are locked in this order: the organization, then users by
 * id.
 */
const rows = (em: EntityManager, tablesOfOrganization: readonly string[]) => ({
  async getForUpdate(id: OrganizationId): Promise<Organization> {
    const organization = await this.getEvenDroppedForUpdate(id);
    if (organization.droppedAt) throw organizationNotFound();
    return organization;
  },

  /** Locks and returns an organization, even if it was dropped and only its tombstone remains. */
  async getEvenDroppedForUpdate(id: OrganizationId): Promise<Organization> {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const organization = await em.findOne(entity, { id }, { lockMode });
    if (!organization) throw organizationNotFound();
    return organization;
  },

  /** Deletes all rows of the organization except its own row. */
  async removeContents(id: OrganizationId): Promise<void> {
    for (const table of tablesOfOrganization) {
      // index: each of the tables has one by organization
      await queryIn(em, `delete from ${table} where organization_id = $1`, [id]);
    }
  },

  /** Inserts the row; returns false if it exists. Waits for a concurrent transaction that inserts the same row. */
  async addIfAbsent({
    id,
    version,
    provisionedVersion,
    userTokensEnabled,
    maxTtlEnabled,
    settingsVersion,
    createdAt,
  }: Organization): Promise<boolean> {
    const inserted = await queryIn(
      em,
      `insert into organizations
         (id, version, provisioned_version, user_tokens_enabled, max_ttl_enabled, settings_version,
          created_at)
       values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing returning id`,
      [
        id,
        String(version),
        String(provisionedVersion),
        userTokensEnabled,
        maxTtlEnabled,
        String(settingsVersion),
        createdAt,
      ],
    );
    return inserted.length > 0;
  },

  async save(organization: Organization): Promise<void> {
    em.persist(organization);
    await em.flush();
  },
});

export const organizations = { entity, rows };
