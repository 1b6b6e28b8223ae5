import type { Database } from "@statehouse/postgres";
import type { StateSummary } from "../domain/state-summary.ts";

/** Keeps what state says of a workspace, unless something newer is known. */
export const stateSummaries = (database: Database) => ({
  async apply(workspaceId: string, summary: StateSummary): Promise<void> {
    await database.query(
      // index: workspaces_pkey
      `update workspaces
       set current_state_version_id = $2, resource_count = $3, latest_change_at = $4,
         state_revision = $5
       where id = $1 and state_revision < $5`,
      [
        workspaceId,
        summary.currentStateVersionId,
        summary.resourceCount,
        summary.latestChangeAt,
        String(summary.revision),
      ],
    );
  },
});
