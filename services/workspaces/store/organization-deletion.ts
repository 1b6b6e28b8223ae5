import { LockMode } from "@mikro-orm/core";
import { type EntityManager, queryIn } from "@statehouse/postgres";
import type { OrganizationId } from "../domain/ids.ts";
import { isOrganizationName } from "../domain/organization.ts";
import {
  type Deleter,
  type PendingOrganizationDeletion,
  RETRY_AFTER_MS,
} from "../domain/pending-sync.ts";
import type { Workspace } from "../domain/workspace.ts";
import { workspaceSchema } from "./workspace-columns.ts";

/**
 * Deletion records of organizations inside a transaction; `tables` are those whose rows are deleted with their
 * organization.
 */
const rows = (em: EntityManager, tables: readonly string[]) => ({
  async add(
    organizationId: OrganizationId,
    name: string,
    { type, id }: Deleter,
    now: Date,
  ): Promise<void> {
    await queryIn(
      em,
      `insert into organization_deletions
         (organization_id, name, deleted_by_type, deleted_by_id, retry_at)
       values ($1, $2, $3, $4, $5)`,
      [organizationId, name, type, id, new Date(now.getTime() + RETRY_AFTER_MS)],
    );
  },

  /** The deletion that a request repeats: one by the same user that is not complete. */
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

  /** Some workspaces of the organization, to be deleted. */
  async workspacesForUpdate(organizationId: OrganizationId, limit: number): Promise<Workspace[]> {
    return em.find(
      workspaceSchema,
      { organizationId },
      // index: workspaces_name_key. In one order, against deadlocks with another replica.
      { limit, orderBy: { name: 1 }, lockMode: LockMode.PESSIMISTIC_WRITE },
    );
  },

  /** As for a single deletion, state still has to confirm. Tags are deleted with the organization. */
  async removeWorkspaces(workspaces: readonly Workspace[], now: Date): Promise<void> {
    const ids = workspaces.map(({ id }) => id);
    await queryIn(
      em,
      // index: workspaces_pkey
      `insert into workspace_deletions (workspace_id, organization_id, project_id, name, retry_at)
       select id, organization_id, project_id, name, $2 from workspaces where id = any($1)`,
      [ids, new Date(now.getTime() + RETRY_AFTER_MS)],
    );
    await queryIn(em, "delete from workspaces where id = any($1)", [ids]);
    // The rows are deleted; the ORM must not write their changes.
    for (const workspace of workspaces) em.getUnitOfWork().unsetIdentity(workspace);
  },

  /**
   * Locks the organization's row, which prevents additions, and returns whether it still has workspaces or deletions
   * that state has not confirmed.
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

  /** Deletes the rows of the organization and its own row, and keeps only the id of its deletion. */
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

export const organizationDeletions = { rows };
