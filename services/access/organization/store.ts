import { EntitySchema } from "@mikro-orm/core";
import {
  type EntityManager,
  loadRows,
  queryIn,
  recordsOf,
  selectWhere,
} from "@statehouse/postgres";
import { bigint, boolean, optional, primaryKey, timestamptz } from "@statehouse/postgres/columns";
import { organizationNotFound } from "../errors-domain.ts";
import type { OrganizationId, UserId } from "../ids-domain.ts";
import { Organization } from "./domain.ts";

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
 * Selects and locks the organization of a team, membership or grant. The organization never changes, so the row `id` of
 * `table` can be read before the organization is locked.
 */
export const lockOrganizationOf = (
  em: EntityManager,
  table: "teams" | "organization_memberships" | "team_accesses",
  id: string,
) =>
  // index: teams_pkey, organization_memberships_pkey, team_accesses_pkey, organizations_pkey
  selectWhere(
    em,
    entity,
    `dropped_at is null and id = (select r.organization_id from ${table} r where r.id = $1)`,
    [id],
    { lock: "update" },
  );

/**
 * Reads and writes organizations, inside a transaction. Rows are locked in this order: the organization, then users by
 * id.
 */
const rows = (em: EntityManager, tablesOfOrganization: readonly string[]) => {
  const records = recordsOf(em, entity, organizationNotFound);

  return {
    ...records,

    getForUpdate: (id: OrganizationId): Promise<Organization> =>
      records.getForUpdate({ id, droppedAt: null }),

    /** Locks and returns an organization, even if it was dropped and only its tombstone remains. */
    getEvenDroppedForUpdate: (id: OrganizationId): Promise<Organization> =>
      records.getForUpdate(id),

    /**
     * Locks the organizations of a user in the order of their ids, and returns them by id. Must be called before the
     * user's own row is locked; the user can join further organizations until then.
     */
    async ofUserForUpdate(userId: UserId): Promise<Map<OrganizationId, Organization>> {
      const locked = await loadRows(
        em,
        // index: organization_memberships_user_id_organization_id_key, organizations_pkey
        selectWhere(
          em,
          entity,
          `dropped_at is null
             and id in (select m.organization_id from organization_memberships m where m.user_id = $1)`,
          [userId],
          { order: ["id"], lock: "update" },
        ),
      );
      return new Map(locked.map((organization) => [organization.id, organization]));
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
  };
};

export const organizations = { entity, rows };
