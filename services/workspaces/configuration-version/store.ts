import { type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import type { WorkspaceId } from "../ids-domain.ts";
import { saveReport } from "../run-report/store.ts";
import type {
  ConfigurationVersion,
  ConfigurationVersionId,
  ConfigurationVersionView,
} from "./domain.ts";

/** Reads of configuration versions, outside any transaction. */
const reads = (database: Database) => ({
  batch(ids: readonly string[]): Promise<ConfigurationVersionView[]> {
    return database.query<ConfigurationVersionView>(
      // index: configuration_versions_pkey, workspaces_pkey
      `select c.id, c.workspace_id as "workspaceId", c.report,
         w.organization_id as "organizationId", w.project_id as "projectId"
       from configuration_versions c join workspaces w on w.id = c.workspace_id
       where c.id = any($1)`,
      [ids],
    );
  },
});

/** Reads and writes of configuration versions, inside a transaction that holds the lock on their workspace's row. */
const rows = (em: EntityManager) => ({
  async find(
    id: ConfigurationVersionId,
  ): Promise<{ runner: string; workspaceId: WorkspaceId; revision: bigint } | undefined> {
    const [row] = await queryIn<{ runner: string; workspaceId: WorkspaceId; revision: number }>(
      em,
      // index: configuration_versions_pkey
      `select runner, workspace_id as "workspaceId", revision from configuration_versions where id = $1`,
      [id],
    );
    return row && { ...row, revision: BigInt(row.revision) };
  },

  /**
   * Inserts the configuration version or replaces its stored report. Throws a conflict if a concurrent report from
   * another runner or for another workspace was stored first.
   */
  save: (version: ConfigurationVersion): Promise<void> =>
    saveReport(em, "configuration_versions", {
      id: version.id,
      runner: version.runner,
      workspace_id: version.workspaceId,
      revision: version.revision,
      created_at: version.createdAt,
      speculative: version.speculative,
      commit_sha: version.commitSha,
      commit_url: version.commitUrl,
      report: JSON.stringify(version.report),
    }),

  /** Updates the workspace's current configuration version: the newest one that is not speculative. */
  async showOn(workspaceId: WorkspaceId): Promise<void> {
    await queryIn(
      em,
      // index: configuration_versions_current
      `update workspaces w set current_configuration_version_id = current.id
       from (select (select id from configuration_versions
             where workspace_id = $1 and not speculative
             order by created_at desc, id collate "C" desc limit 1) as id) current
       where w.id = $1 and w.current_configuration_version_id is distinct from current.id`,
      [workspaceId],
    );
  },
});

export const configurationVersions = { reads, rows };
