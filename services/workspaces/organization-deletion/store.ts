import { EntitySchema } from "@mikro-orm/core";
import { type EntityManager, queryIn, recordsOf } from "@statehouse/postgres";
import { optional, primaryKey, text, timestamptz } from "@statehouse/postgres/columns";
import type { OrganizationId } from "../ids-domain.ts";
import { isOrganizationName, organizationNotFound } from "../organization/domain.ts";
import {
  type Deleter,
  OrganizationDeletion,
  type PendingOrganizationDeletion,
} from "../pending-sync/domain.ts";

const entity = new EntitySchema({
  class: OrganizationDeletion,
  tableName: "organization_deletions",
  properties: {
    organizationId: primaryKey,
    name: optional(text),
    deletedByType: optional(text),
    deletedById: optional(text),
    retryAt: optional(timestamptz),
  },
});

/**
 * Reads and writes of organizations' deletion records, inside a transaction. The rows of `tables` are deleted with
 * their organization.
 */
const rows = (em: EntityManager, tables: readonly string[]) => ({
  ...recordsOf(em, entity, organizationNotFound),

  /**
   * Returns the incomplete deletion that a repeated request of the same principal continues; undefined if there is
   * none.
   */
  async findPending(
    name: string,
    { type, id }: Deleter,
  ): Promise<PendingOrganizationDeletion | undefined> {
    if (!isOrganizationName(name)) return undefined;
    const [row] = await queryIn<PendingOrganizationDeletion>(
      em,
      // index: organization_deletions_name
      `select organization_id as "organizationId" from organization_deletions
       where name = $1 and deleted_by_type = $2 and deleted_by_id = $3 and retry_at is not null
       order by retry_at desc limit 1`,
      [name, type, id],
    );
    return row;
  },

  /**
   * Locks the organization's row, so that no workspace can be added. Returns whether the organization still has
   * workspaces, or deleted workspaces that the state service has not confirmed.
   */
  async hasWorkspaces(organizationId: OrganizationId): Promise<boolean> {
    // index: organizations_pkey
    await queryIn(em, "select from organizations where id = $1 for update", [organizationId]);
    const [left] = await queryIn<{ any: boolean }>(
      em,
      // index: workspaces_name_key, workspace_deletions_name
      `select exists (select from workspaces where organization_id = $1)
         or exists (select from workspace_deletions
           where organization_id = $1 and retry_at is not null) as any`,
      [organizationId],
    );
    return left?.any === true;
  },

  /** Deletes all rows of the organization, including its own. Only the id remains, in its deletion record. */
  async finish(organizationId: OrganizationId): Promise<void> {
    await queryIn(
      em,
      // index: organizations_pkey
      "update organizations set default_agent_pool_id = null where id = $1",
      [organizationId],
    );
    for (const table of tables) {
      await queryIn(em, `delete from ${table} where organization_id = $1`, [organizationId]);
    }
    await queryIn(em, "delete from organizations where id = $1", [organizationId]);
    await queryIn(
      em,
      // index: organization_deletions_pkey
      `update organization_deletions
       set name = null, deleted_by_type = null, deleted_by_id = null, retry_at = null
       where organization_id = $1`,
      [organizationId],
    );
  },
});

export const organizationDeletions = { entity, rows };
