import { type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import { reportedByOther } from "../errors-domain.ts";
import type { WorkspaceId } from "../ids-domain.ts";
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
  async save(version: ConfigurationVersion): Promise<void> {
    // Not a record: the lock of this workspace's row does not exclude a concurrent report for another workspace. The
    // upsert detects that report, and the error names the id.
    const [saved] = await queryIn(
      em,
      // index: configuration_versions_pkey
      `insert into configuration_versions (id, runner, workspace_id, revision, created_at, speculative,
         commit_sha, commit_url, report)
       values ($1, $9, $2, $3, $4, $5, $6, $7, $8)
       on conflict (id) do update set runner = excluded.runner, revision = excluded.revision,
         created_at = excluded.created_at, speculative = excluded.speculative,
         commit_sha = excluded.commit_sha, commit_url = excluded.commit_url,
         report = excluded.report
         where configuration_versions.workspace_id = excluded.workspace_id
           and configuration_versions.runner = excluded.runner
       returning id`,
      [
        version.id,
        version.workspaceId,
        version.revision,
        version.createdAt,
        version.speculative,
        version.commitSha,
        version.commitUrl,
        JSON.stringify(version.report),
        version.runner,
      ],
    );
    if (!saved) throw reportedByOther(version.id);
  },

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
