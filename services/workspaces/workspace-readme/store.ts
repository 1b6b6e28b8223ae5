import { type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import type { WorkspaceReadme, WorkspaceReadmeView } from "./domain.ts";

/** Reads of readmes, outside any transaction. */
const reads = (database: Database) => ({
  batch(workspaceIds: readonly string[]): Promise<WorkspaceReadmeView[]> {
    return database.query<WorkspaceReadmeView>(
      // index: workspace_readmes_pkey, workspaces_pkey
      `select r.workspace_id as "workspaceId", r.raw_markdown as "rawMarkdown",
         w.organization_id as "organizationId", w.project_id as "projectId"
       from workspace_readmes r join workspaces w on w.id = r.workspace_id
       where r.workspace_id = any($1) and r.raw_markdown <> ''`,
      [workspaceIds],
    );
  },
});

/** Reads and writes of readmes, inside a transaction that holds the lock on the workspace's row. */
const rows = (em: EntityManager) => ({
  /** Stores the readme unless a newer one is stored. An empty string means that the workspace has no readme. */
  async save({ workspaceId, rawMarkdown }: WorkspaceReadme, revision: bigint): Promise<void> {
    const [saved] = await queryIn(
      em,
      // index: workspace_readmes_pkey
      `insert into workspace_readmes (workspace_id, revision, raw_markdown) values ($1, $2, $3)
       on conflict (workspace_id) do update
         set revision = excluded.revision, raw_markdown = excluded.raw_markdown
         where workspace_readmes.revision < excluded.revision
       returning workspace_id`,
      [workspaceId, revision, rawMarkdown],
    );
    if (!saved) return;
    await queryIn(em, "update workspaces set has_readme = $2 where id = $1", [
      workspaceId,
      rawMarkdown !== "",
    ]);
  },
});

export const workspaceReadmes = { reads, rows };
