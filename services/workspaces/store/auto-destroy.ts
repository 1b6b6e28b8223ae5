import { type EntityManager, queryIn } from "@statehouse/postgres";
import type { WorkspaceId } from "../domain/ids.ts";

/** Scheduled destroy runs, inside a transaction. */
export const autoDestroyRows = (em: EntityManager) => ({
  /** Those whose moment has come, the longest due first; without those that somebody else is at. */
  async dueForUpdate(now: Date, limit: number): Promise<WorkspaceId[]> {
    const rows = await queryIn<{ id: WorkspaceId }>(
      em,
      // index: workspaces_auto_destroy
      `select id from workspaces where auto_destroy_at <= $1
       order by auto_destroy_at limit $2 for update skip locked`,
      [now, limit],
    );
    return rows.map(({ id }) => id);
  },
});
