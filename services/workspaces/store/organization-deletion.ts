import { type EntityManager, loadRows, queryIn, recordsOf, selectRows } from "@statehouse/postgres";
import type { OrganizationId } from "../domain/ids.ts";
import { isOrganizationName } from "../domain/organization.ts";
import {
  type Deleter,
  type PendingOrganizationDeletion,
  RETRY_AFTER_MS,
} from "../domain/pending-sync.ts";
import { type Workspace, workspaceNotFound } from "../domain/workspace.ts";
import { workspaceSchema } from "./workspace-columns.ts";

/**
 * Reads and writes of organizations' deletion records, inside a transaction. The rows of `tables` are deleted with
 * their organization.
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

  /** Locks and returns at most `limit` workspaces of the organization. */
  async workspacesForUpdate(organizationId: OrganizationId, limit: number): Promise<Workspace[]> {
    // index: workspaces_name_key. All replicas lock in the same order, to prevent deadlocks.
    const options = { lock: "update", order: ["name"], limit } as const;
    return loadRows(em, selectRows(em, workspaceSchema, { organizationId }, options));
  },

  /**
   * Deletes workspaces. The state service must still confirm each deletion, as for a single workspace. Tags are deleted
   * later, with the organization.
   */
  async removeWorkspaces(workspaces: readonly Workspace[], now: Date): Promise<void> {
    const ids = workspaces.map(({ id }) => id);
    await queryIn(
      em,
      // index: workspaces_pkey
      `insert into workspace_deletions (workspace_id, organization_id, project_id, name, retry_at)
       select id, organization_id, project_id, name, $2 from workspaces where id = any($1)`,
      [ids, new Date(now.getTime() + RETRY_AFTER_MS)],
    );
    const records = recordsOf(em, workspaceSchema, workspaceNotFound);
    workspaces.forEach(records.remove);
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

export const organizationDeletions = { rows };
