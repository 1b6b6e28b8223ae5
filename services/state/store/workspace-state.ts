import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { EntitySchema, LockMode } from "@mikro-orm/core";
import { listed, type PublishedEvents, published } from "@statehouse/events";
import { commitWith, type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import {
  bigint,
  integer,
  optional,
  primaryKey,
  text,
  timestamptz,
} from "@statehouse/postgres/columns";
import { WorkspaceStateChangedSchema } from "@statehouse/proto/statehouse/state/v1/events";
import type { StateEvent } from "../domain/events.ts";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import type { StateVersionView } from "../domain/state-version.ts";
import {
  type StateSummary,
  WorkspaceState,
  type WorkspaceStateRecord,
  type WorkspaceStateView,
} from "../domain/workspace-state.ts";
import { type StateVersionRow, stateVersionColumns, viewOf } from "./state-version-view.ts";

export const stateColumns = {
  workspaceId: primaryKey,
  organizationId: optional(text),
  projectId: optional(text),
  placementVersion: bigint,
  sealedEpoch: bigint,
  currentVersionId: optional(text),
  currentPosition: bigint,
  resourceCount: integer,
  latestChangeAt: optional(timestamptz),
  revision: bigint,
  droppedAt: optional(timestamptz),
  purgedAt: optional(timestamptz),
};

const entity = new EntitySchema({
  class: WorkspaceState,
  tableName: "workspace_states",
  properties: stateColumns,
});

/** SQL: true if `workspace` is not dropped and has a placement. */
export const isVisible = "workspace.dropped_at is null and workspace.organization_id is not null";

/** SQL: the columns of a `WorkspaceStateRow`. */
export const workspaceStateColumns = `workspace.workspace_id, workspace.organization_id,
  workspace.project_id, workspace.current_version_id, workspace.dropped_at`;

export interface WorkspaceStateRow {
  workspace_id: WorkspaceId;
  organization_id: string | null;
  project_id: string | null;
  current_version_id: StateVersionId | null;
  dropped_at: Date | null;
}

export const workspaceStateViewOf = (row: WorkspaceStateRow): WorkspaceStateView => ({
  workspaceId: row.workspace_id,
  organizationId: row.organization_id,
  projectId: row.project_id,
  currentVersionId: row.current_version_id,
  droppedAt: row.dropped_at,
});

interface RecordRow {
  workspace_id: WorkspaceId;
  current_version_id: StateVersionId | null;
  resource_count: number;
  latest_change_at: Date | null;
  revision: number;
  placement_version: number;
  dropped: boolean;
}

const recordColumns = `workspace_id, current_version_id, resource_count, latest_change_at, revision,
  placement_version, dropped_at is not null as dropped`;

const selectRecords = `select ${recordColumns} from workspace_states`;

const recordOf = (row: RecordRow): WorkspaceStateRecord => ({
  summary: {
    workspaceId: row.workspace_id,
    currentVersionId: row.current_version_id,
    resourceCount: row.resource_count,
    latestChangeAt: row.latest_change_at,
    revision: BigInt(row.revision),
  },
  placementVersion: BigInt(row.placement_version),
  dropped: row.dropped,
});

const sealed = `
  update workspace_states w set sealed_epoch = greatest(w.sealed_epoch, $2)
  where w.workspace_id = $1 and w.dropped_at is null
    and not exists (
      select from state_versions v where v.workspace_id = $1 and v.status = 'pending')
    and not exists (
      select from state_versions v where v.workspace_id = $1 and v.intermediate
        and v.status = 'finalized' and v.position > w.current_position)
  returning ${recordColumns}`;

const rows = (em: EntityManager) => ({
  async findForUpdate(workspaceId: WorkspaceId): Promise<WorkspaceState | undefined> {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    return (await em.findOne(entity, { workspaceId }, { lockMode })) ?? undefined;
  },

  /**
   * Ends the lock epochs up to `epoch` and commits, if no version could be affected: no version is pending, and no
   * finalized snapshot is newer than the current version. Otherwise, or if the workspace is unknown or dropped, changes
   * nothing and returns undefined. Most unlocks need nothing else, and take two round trips instead of four (section
   * `requests` of the bench).
   */
  async sealWithoutOpenVersions(
    workspaceId: WorkspaceId,
    epoch: bigint,
  ): Promise<StateSummary | undefined> {
    // The row is locked in a separate statement, because a statement sees only what was committed before it began. The
    // next statement therefore sees every version that another transaction created while it held the lock.
    await queryIn(
      em,
      // index: workspace_states_pkey
      "select from workspace_states where workspace_id = $1 for update",
      [workspaceId],
    );
    const [row] = await commitWith<RecordRow>(
      em,
      // index: workspace_states_pkey, state_versions_status, state_versions_open
      { change: sealed, select: "select * from changed" },
      [workspaceId, epoch],
    );
    return row && recordOf(row).summary;
  },

  /** Locks the row and returns it. Inserts it without a placement if it is missing. */
  async getOrInsertForUpdate(workspaceId: WorkspaceId): Promise<WorkspaceState> {
    const known = await this.findForUpdate(workspaceId);
    if (known) return known;
    await queryIn(
      em,
      `insert into workspace_states (workspace_id, placement_version, sealed_epoch,
         current_position, resource_count, revision)
       values ($1, 0, 0, 0, 0, 0) on conflict do nothing`,
      [workspaceId],
    );
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    return em.findOneOrFail(entity, { workspaceId }, { lockMode });
  },

  /** Locks and returns the rows among `ids` that no other transaction has locked. */
  listUnlockedForUpdate: (ids: readonly WorkspaceId[]): Promise<WorkspaceState[]> =>
    em.find(
      entity,
      { workspaceId: { $in: [...ids] } },
      { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, orderBy: { workspaceId: 1 } },
    ),
});

// index: workspace_states_pkey, state_versions_pkey
const selectWithCurrentVersion = `
  select ${stateVersionColumns}, ${workspaceStateColumns}
  from workspace_states workspace
  left join state_versions version on version.id = workspace.current_version_id
  where workspace.workspace_id = $1`;

/** Returns whether a row of a left join contains a version. */
const hasVersion = <Row extends { version: { id: string | null } }>(
  row: Row,
): row is Row & StateVersionRow => row.version.id !== null;

const reads = (database: Database) => ({
  async find(id: WorkspaceId): Promise<WorkspaceStateView | undefined> {
    // index: workspace_states_pkey
    const [row] = await database.query<WorkspaceStateRow>(
      `select ${workspaceStateColumns} from workspace_states workspace where workspace_id = $1`,
      [id],
    );
    return row && workspaceStateViewOf(row);
  },

  /** Returns the workspace's state and its current version, read in one statement. */
  async findWithCurrentVersion(
    id: WorkspaceId,
  ): Promise<
    { workspaceState: WorkspaceStateView; version: StateVersionView | undefined } | undefined
  > {
    const [row] = await database.query<
      WorkspaceStateRow & (StateVersionRow | { version: { id: null } })
    >(selectWithCurrentVersion, [id]);
    if (!row) return undefined;
    return {
      workspaceState: workspaceStateViewOf(row),
      version: hasVersion(row) && !row.dropped_at ? viewOf(row) : undefined,
    };
  },

  async listRecords(ids: readonly string[]): Promise<WorkspaceStateRecord[]> {
    // index: workspace_states_pkey
    const rows = await database.query<RecordRow>(`${selectRecords} where workspace_id = any($1)`, [
      ids,
    ]);
    return rows.map(recordOf);
  },

  /** Returns the records of the workspaces whose ids follow `after`, in this database's sort order. */
  async listRecordsAfter(after: string, limit: number): Promise<WorkspaceStateRecord[]> {
    // index: workspace_states_pkey
    const rows = await database.query<RecordRow>(
      `${selectRecords} where workspace_id > $1 order by workspace_id limit $2`,
      [after, limit],
    );
    return rows.map(recordOf);
  },

  /**
   * Returns the ids of the next workspaces that have a current version and whose ids follow `after`, in this database's
   * sort order.
   */
  async listWithCurrentVersionAfter(after: string, limit: number): Promise<WorkspaceId[]> {
    const rows = await database.query<{ workspace_id: WorkspaceId }>(
      // index: workspace_states_pkey
      `select workspace_id from workspace_states
       where workspace_id > $1 and dropped_at is null and current_version_id is not null
       order by workspace_id limit $2`,
      [after, limit],
    );
    return rows.map((row) => row.workspace_id);
  },

  /**
   * Returns dropped workspaces whose other rows are not deleted yet, except those in `except`, in the order in which
   * they were dropped.
   */
  async listToPurge(limit: number, except: readonly WorkspaceId[]): Promise<WorkspaceId[]> {
    const rows = await database.query<{ workspace_id: WorkspaceId }>(
      // index: workspace_states_unpurged
      `select workspace_id from workspace_states
       where dropped_at is not null and purged_at is null and workspace_id <> all($2)
       order by dropped_at limit $1`,
      [limit, except],
    );
    return rows.map((row) => row.workspace_id);
  },
});

type Summary = Omit<StateSummary, "revision"> & { organizationId: string };
type ListedSummary = Summary & { key: string; revision: number };

/**
 * Selects, for subscribers, at most $3 summaries of organization $2 after the id $1; summaries of all organizations if
 * $2 is null.
 */
const listedSummaries = `-- index: workspace_states_pkey
  select workspace.workspace_id as key, workspace.workspace_id as "workspaceId",
    workspace.organization_id as "organizationId",
    workspace.current_version_id as "currentVersionId",
    workspace.resource_count as "resourceCount", workspace.latest_change_at as "latestChangeAt",
    workspace.revision
  from workspace_states workspace
  where workspace.workspace_id > $1 and ($2::text is null or workspace.organization_id = $2)
    and ${isVisible}
  order by workspace.workspace_id limit $3`;

const changed = ({ currentVersionId, latestChangeAt, ...summary }: Summary) =>
  published(WorkspaceStateChangedSchema, summary.workspaceId, {
    workspaceId: summary.workspaceId,
    organizationId: summary.organizationId,
    resourceCount: summary.resourceCount,
    currentStateVersionId: currentVersionId ?? "",
    ...(latestChangeAt ? { latestChangeAt: timestampFromDate(latestChangeAt) } : {}),
  });

export const workspaceStates = {
  entity,
  rows,
  reads,
  listed: listed({
    schemas: [WorkspaceStateChangedSchema],
    select: listedSummaries,
    events: (summary: ListedSummary) => [changed(summary)],
  }),
  published: {
    workspaceStateChanged: (event) => changed(event),
  } satisfies PublishedEvents<Extract<StateEvent, { type: "workspaceStateChanged" }>>,
};
