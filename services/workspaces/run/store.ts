import { listed, published } from "@statehouse/events";
import { type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import { RunEndedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";
import { organizationIsActive } from "../active-organization-store.ts";
import type { OrganizationId, RunId, WorkspaceId } from "../ids-domain.ts";
import { saveReport } from "../run-report/store.ts";
import { isEnded, isMeasured, type Run, type RunView } from "./domain.ts";

/** A stored run. `inWindow` is true if the run is part of the workspace's performance. */
export type KeptRun = Omit<Run, "report" | "isDestroy"> & { inWindow: boolean };

/**
 * The organization of a workspace, and the stored values of a run, which can belong to another workspace (`elsewhere`).
 */
interface RunPlacement {
  organizationId: OrganizationId;
  /** Null if the run was not reported. */
  runner: string | null;
  elsewhere: boolean;
  ended: boolean;
}

type KeptRow = Omit<KeptRun, "revision"> & { revision: number };

const columns = `id, runner, workspace_id as "workspaceId", revision, status, created_at as "createdAt",
  plan_only as "planOnly", configuration_version_id as "configurationVersionId",
  policy_check_failed as "policyCheckFailed", plan_ms as "planMs", apply_ms as "applyMs",
  in_window as "inWindow"`;

const kept = (row: KeptRow): KeptRun => ({ ...row, revision: BigInt(row.revision) });

/** Reads of runs, outside any transaction. */
const reads = (database: Database) => ({
  batch(ids: readonly string[]): Promise<RunView[]> {
    return database.query<RunView>(
      // index: runs_pkey, workspaces_pkey, configuration_versions_pkey
      `select r.id, r.workspace_id as "workspaceId", r.report,
         w.organization_id as "organizationId", w.project_id as "projectId",
         case when w.vcs_repo is not null then c.commit_sha end as "commitSha",
         case when w.vcs_repo is not null then c.commit_url end as "commitUrl"
       from runs r
       join workspaces w on w.id = r.workspace_id
       left join configuration_versions c
         on c.id = r.configuration_version_id and c.workspace_id = r.workspace_id
       where r.id = any($1)`,
      [ids],
    );
  },

  /** Returns the workspace that the run was reported for, and the runner that reported it. */
  async reporterOf(id: string): Promise<{ workspaceId: WorkspaceId; runner: string } | undefined> {
    const [row] = await database.query<{ workspaceId: WorkspaceId; runner: string }>(
      // index: runs_pkey
      `select workspace_id as "workspaceId", runner from runs where id = $1`,
      [id],
    );
    return row;
  },

  async listEnded(ids: readonly string[]): Promise<string[]> {
    const rows = await database.query<{ id: string }>(
      // index: runs_pkey
      "select id from runs where id = any($1) and ended",
      [ids],
    );
    return rows.map(({ id }) => id);
  },

  /**
   * Returns the workspace's organization and what is stored about the run; undefined if the workspace does not exist.
   */
  async placement(runId: RunId, workspaceId: WorkspaceId): Promise<RunPlacement | undefined> {
    const [row] = await database.query<RunPlacement>(
      // index: workspaces_pkey, runs_pkey
      `select w.organization_id as "organizationId", r.runner, coalesce(r.workspace_id <> w.id, false) as elsewhere,
         coalesce(r.ended, false) as ended
       from workspaces w left join runs r on r.id = $1
       where w.id = $2`,
      [runId, workspaceId],
    );
    return row;
  },
});

/** Reads and writes of runs, inside a transaction that holds the lock on their workspace's row. */
const rows = (em: EntityManager) => ({
  async find(id: RunId): Promise<KeptRun | undefined> {
    // index: runs_pkey
    const [row] = await queryIn<KeptRow>(em, `select ${columns} from runs where id = $1`, [id]);
    return row && kept(row);
  },

  /**
   * Inserts the run or replaces its stored report. Removes the run from the performance window, which the use case must
   * then fill. Throws a conflict if a concurrent report from another runner or for another workspace was stored first.
   */
  save: (run: Run): Promise<void> =>
    saveReport(em, "runs", {
      id: run.id,
      runner: run.runner,
      workspace_id: run.workspaceId,
      revision: run.revision,
      status: run.status,
      created_at: run.createdAt,
      plan_only: run.planOnly,
      configuration_version_id: run.configurationVersionId,
      policy_check_failed: run.policyCheckFailed,
      plan_ms: run.planMs,
      apply_ms: run.applyMs,
      measured: isMeasured(run.status),
      ended: isEnded(run.status),
      in_window: false,
      report: JSON.stringify(run.report),
    }),

  /** Returns the newest measured run outside the performance window. */
  async newestOutside(workspaceId: WorkspaceId): Promise<KeptRun | undefined> {
    const [row] = await queryIn<KeptRow>(
      em,
      // index: runs_measured
      `select ${columns} from runs where workspace_id = $1 and measured and not in_window
       order by created_at desc, id collate "C" desc limit 1`,
      [workspaceId],
    );
    return row && kept(row);
  },

  /** Returns the oldest run in the performance window. */
  async oldestInside(workspaceId: WorkspaceId): Promise<KeptRun | undefined> {
    const [row] = await queryIn<KeptRow>(
      em,
      // index: runs_measured
      `select ${columns} from runs where workspace_id = $1 and measured and in_window
       order by created_at, id collate "C" limit 1`,
      [workspaceId],
    );
    return row && kept(row);
  },

  async setInWindow(id: RunId, inWindow: boolean): Promise<void> {
    await queryIn(em, "update runs set in_window = $2 where id = $1", [id, inWindow]);
  },

  /**
   * Updates the workspace's latest and current run:
   * - The latest run is the newest one.
   * - The current run is the newest run that is neither plan-only nor pending. If every run that is not plan-only is
   *   pending, it is the newest of those. If all runs are plan-only, there is no current run.
   */
  async showOn(workspaceId: WorkspaceId): Promise<void> {
    await queryIn(
      em,
      // index: runs_latest, runs_current
      `update workspaces w set latest_run_id = latest.id, current_run_id = current.id,
         current_run_status = current.status, current_run_created_at = current.created_at
       from (select id from runs where workspace_id = $1
             order by created_at desc, id collate "C" desc limit 1) latest
       left join (select id, status, created_at from runs where workspace_id = $1 and not plan_only
             order by (status = 'pending'), created_at desc, id collate "C" desc limit 1) current
         on true
       where w.id = $1 and (w.latest_run_id, w.current_run_id, w.current_run_status,
           w.current_run_created_at)
         is distinct from (latest.id, current.id, current.status, current.created_at)`,
      [workspaceId],
    );
  },
});

type EndedRun = Pick<Run, "id" | "workspaceId" | "status" | "revision">;

export const runEnded = (
  { id, workspaceId, status, revision }: EndedRun,
  organizationId: OrganizationId,
) => published(RunEndedSchema, id, { runId: id, workspaceId, organizationId, status, revision });

export const runs = {
  reads,
  rows,
  listed: listed({
    schemas: [RunEndedSchema],
    // index: runs_pkey, workspaces_pkey, organizations_pkey
    from: "runs t join workspaces w on w.id = t.workspace_id",
    columns: `t.id, t.workspace_id as "workspaceId", t.status, w.organization_id as "organizationId"`,
    organization: "w.organization_id",
    isListed: organizationIsActive("w.organization_id"),
    where: "t.ended",
    events: (run: EndedRun & { organizationId: OrganizationId }) => [
      runEnded(run, run.organizationId),
    ],
  }),
};
