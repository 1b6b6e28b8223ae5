import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { EntitySchema } from "@mikro-orm/core";
import { listed, published } from "@statehouse/events";
import {
  commitWith,
  type Database,
  type EntityManager,
  queryIn,
  recordsOf,
} from "@statehouse/postgres";
import {
  bigint,
  integer,
  optional,
  primaryKey,
  selectList,
  text,
  timestamptz,
} from "@statehouse/postgres/columns";
import { WorkspaceStateChangedSchema } from "@statehouse/proto/statehouse/state/v1/events";
import { stateVersionNotFound } from "../errors-domain.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import type { StateVersionView } from "../state-version/domain.ts";
import {
  type StateVersionRow,
  stateVersionColumns,
  viewOf,
} from "../state-version-document/store.ts";
import {
  type StateSummary,
  WorkspaceState,
  type WorkspaceStateRecord,
  type WorkspaceStateView,
} from "./domain.ts";

const viewColumns = {
  workspaceId: primaryKey,
  organizationId: optional(text),
  projectId: optional(text),
  currentVersionId: optional(text),
  droppedAt: optional(timestamptz),
};

export const workspaceStateSchema = new EntitySchema({
  class: WorkspaceState,
  tableName: "workspace_states",
  properties: {
    ...viewColumns,
    placementVersion: bigint,
    sealedEpoch: bigint,
    currentPosition: bigint,
    resourceCount: integer,
    latestChangeAt: optional(timestamptz),
    revision: bigint,
    purgedAt: optional(timestamptz),
  },
});

/** SQL: true if `workspace` is not dropped and has a placement. */
export const isVisible = "workspace.dropped_at is null and workspace.organization_id is not null";

/** SQL: the columns of a `WorkspaceStateView`. */
export const workspaceStateColumns = selectList("workspace", viewColumns);

type RecordRow = Omit<WorkspaceStateRecord, "revision" | "placementVersion"> &
  Record<"revision" | "placementVersion", number>;

const recordColumns = `workspace_id as "workspaceId", current_version_id as "currentVersionId",
  resource_count as "resourceCount", latest_change_at as "latestChangeAt", revision,
  placement_version as "placementVersion", dropped_at is not null as dropped`;

const selectRecords = `select ${recordColumns} from workspace_states`;

const recordOf = (row: RecordRow): WorkspaceStateRecord => ({
  ...row,
  revision: BigInt(row.revision),
  placementVersion: BigInt(row.placementVersion),
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

/** Inserts the state of a workspace without a placement, unless another transaction has inserted it. */
export const insertWorkspaceState = (em: EntityManager, workspaceId: WorkspaceId) =>
  queryIn(
    em,
    `insert into workspace_states (workspace_id, placement_version, sealed_epoch,
       current_position, resource_count, revision)
     values ($1, 0, 0, 0, 0, 0) on conflict do nothing`,
    [workspaceId],
  );

const rows = (em: EntityManager) => {
  const records = recordsOf(em, workspaceStateSchema, stateVersionNotFound);

  return {
    ...records,

    /**
     * Ends the lock epochs up to `epoch` and commits, if no version could be affected: no version is pending, and no
     * finalized snapshot is newer than the current version. Otherwise, or if the workspace is unknown or dropped, changes
     * nothing and returns undefined. Most unlocks need nothing else, and take two round trips instead of four (section
     * (f) of the bench).
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
      return row && recordOf(row);
    },

    /** Locks the row and returns it. Inserts it without a placement if it is missing. */
    async getOrInsertForUpdate(workspaceId: WorkspaceId): Promise<WorkspaceState> {
      const known = await records.findForUpdate({ workspaceId });
      if (known) return known;
      await insertWorkspaceState(em, workspaceId);
      return records.getForUpdate({ workspaceId });
    },

    /** Locks and returns the rows among `ids` that no other transaction has locked. */
    listUnlockedForUpdate: (ids: readonly WorkspaceId[]): Promise<WorkspaceState[]> =>
      records.list({ workspaceId: ids }, { order: ["workspaceId"], lock: "update skip locked" }),
  };
};

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
    const [row] = await database.query<WorkspaceStateView>(
      // index: workspace_states_pkey
      `select ${workspaceStateColumns} from workspace_states workspace where workspace_id = $1`,
      [id],
    );
    return row;
  },

  /** Returns the workspace's state and its current version, read in one statement. */
  async findWithCurrentVersion(
    id: WorkspaceId,
  ): Promise<
    { workspaceState: WorkspaceStateView; version: StateVersionView | undefined } | undefined
  > {
    const [row] = await database.query<
      WorkspaceStateView & (StateVersionRow | { version: { id: null } })
    >(selectWithCurrentVersion, [id]);
    if (!row) return undefined;
    return {
      workspaceState: row,
      version: hasVersion(row) && !row.droppedAt ? viewOf(row) : undefined,
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
    const rows = await database.query<{ id: WorkspaceId }>(
      // index: workspace_states_pkey
      `select workspace_id as id from workspace_states
       where workspace_id > $1 and dropped_at is null and current_version_id is not null
       order by workspace_id limit $2`,
      [after, limit],
    );
    return rows.map(({ id }) => id);
  },

  /**
   * Returns dropped workspaces whose other rows are not deleted yet, except those in `except`, in the order in which
   * they were dropped.
   */
  async listToPurge(limit: number, except: readonly WorkspaceId[]): Promise<WorkspaceId[]> {
    const rows = await database.query<{ id: WorkspaceId }>(
      // index: workspace_states_unpurged
      `select workspace_id as id from workspace_states
       where dropped_at is not null and purged_at is null and workspace_id <> all($2)
       order by dropped_at limit $1`,
      [limit, except],
    );
    return rows.map(({ id }) => id);
  },
});

type PublishedState = StateSummary & Pick<WorkspaceState, "organizationId">;

export const workspaceStateChanged = (workspaceState: PublishedState) => {
  const { workspaceId, organizationId, currentVersionId, latestChangeAt } = workspaceState;
  return published(WorkspaceStateChangedSchema, workspaceId, {
    workspaceId,
    organizationId: organizationId ?? "",
    resourceCount: workspaceState.resourceCount,
    currentStateVersionId: currentVersionId ?? "",
    ...(latestChangeAt ? { latestChangeAt: timestampFromDate(latestChangeAt) } : {}),
    revision: workspaceState.revision,
  });
};

export const workspaceStates = {
  entity: workspaceStateSchema,
  rows,
  reads,
  listed: listed({
    schemas: [WorkspaceStateChangedSchema],
    // index: workspace_states_pkey
    from: "workspace_states workspace",
    key: ["workspace.workspace_id"],
    columns: `workspace.workspace_id as "workspaceId", workspace.organization_id as "organizationId",
      workspace.current_version_id as "currentVersionId",
      workspace.resource_count as "resourceCount", workspace.latest_change_at as "latestChangeAt"`,
    organization: "workspace.organization_id",
    revision: "workspace.revision",
    where: isVisible,
    events: (workspaceState: PublishedState) => [workspaceStateChanged(workspaceState)],
  }),
};
