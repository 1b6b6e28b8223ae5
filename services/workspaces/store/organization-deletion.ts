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
import { workspaceSchema } from "./entities.ts";

/** What belongs to an organization, in an order in which nothing refers to what is gone already. */
const belongings = [
  "tag_bindings",
  "tags",
  "reserved_tag_keys",
  "ssh_keys",
  "data_retention_policies",
] as const;

/** Deletion records of organizations inside a transaction. */
export const organizationDeletionRows = (em: EntityManager) => ({
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

  /** The deletion that a repeated request of its deleter speaks of, as long as it is not through. */
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

  /** Some of its workspaces, to be deleted. */
  async workspacesForUpdate(organizationId: OrganizationId, limit: number): Promise<Workspace[]> {
    return em.find(
      workspaceSchema,
      { organizationId },
      // index: workspaces_name_key. In one order, against deadlocks with another replica.
      { limit, orderBy: { name: 1 }, lockMode: LockMode.PESSIMISTIC_WRITE },
    );
  },

  /** As if each were deleted by itself: state still has to acknowledge. Tags go with the organization. */
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
    // They are gone; the ORM must not write what was changed in them.
    for (const workspace of workspaces) em.getUnitOfWork().unsetIdentity(workspace);
  },

  /** Takes away all that is left, once it has no workspace; false when somebody is still at one. */
  async finish(organizationId: OrganizationId): Promise<boolean> {
    // Nobody adds anything while the row is locked, nor, when it is gone, afterwards.
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
    if (left?.any) return false;
    await queryIn(
      em,
      // index: organizations_pkey
      "update organizations set default_agent_pool_id = null where id = $1",
      [organizationId],
    );
    for (const table of [...belongings, "projects", "agent_pools"]) {
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
    return true;
  },
});
