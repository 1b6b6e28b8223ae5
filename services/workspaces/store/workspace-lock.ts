import { commitWith, type EntityManager, queryIn } from "@statehouse/postgres";
import type { WorkspaceId } from "../domain/ids.ts";
import {
  type LockableWorkspace,
  type WorkspaceView,
  workspaceNotFound,
} from "../domain/workspace.ts";
import {
  type LockJson,
  selectChangedWorkspaces,
  toLock,
  toWorkspaceView,
  type WorkspaceRow,
  workspaceLock,
} from "./workspace-columns.ts";

/** A row that `lockedRow` selects, in which epochs and revisions are numbers. */
type Row = Omit<
  LockableWorkspace,
  "lock" | "deletionLock" | "lastLockEpoch" | "stateRevision" | "revision"
> & {
  lock: LockJson | null;
  deletionEpoch: number | null;
  deletionUntil: Date | null;
  lastLockEpoch: number;
  stateRevision: number;
  revision: number;
};

const lockedRow = `
  select w.id, w.organization_id as "organizationId", w.project_id as "projectId",
    ${workspaceLock("w")} as lock, w.deletion_lock_epoch as "deletionEpoch",
    w.deletion_lock_until as "deletionUntil", w.last_lock_epoch as "lastLockEpoch",
    w.current_state_version_id as "currentStateVersionId", w.resource_count as "resourceCount",
    w.latest_change_at as "latestChangeAt", w.state_revision as "stateRevision",
    w.auto_destroy_at as "autoDestroyAt",
    w.auto_destroy_activity_duration as "autoDestroyActivityDuration",
    w.inherits_project_auto_destroy as "inheritsProjectAutoDestroy",
    w.inherited_activity_duration as "inheritedActivityDuration", w.revision,
    w.updated_at as "updatedAt"
  from workspaces w where w.id = $1 for update`;

const changeLock = `
  update workspaces set lock_holder_type = $2, lock_holder_id = $3, lock_reason = $4,
    lock_since = $5, lock_epoch = $6, deletion_lock_epoch = $7, deletion_lock_until = $8,
    last_lock_epoch = $9, current_state_version_id = $10, resource_count = $11,
    latest_change_at = $12, state_revision = $13, auto_destroy_at = $14, revision = $15,
    updated_at = $16
  where id = $1 returning *`;

/**
 * Reads and writes of workspaces' locks inside a transaction. They are SQL statements instead of entities of the ORM,
 * so that locking takes two round trips instead of six (section `requests` of the bench).
 */
const rows = (em: EntityManager) => ({
  async findForUpdate(id: WorkspaceId): Promise<LockableWorkspace | undefined> {
    // index: workspaces_pkey
    const [row] = await queryIn<Row>(em, lockedRow, [id]);
    if (!row) return undefined;
    const { lock, deletionEpoch, deletionUntil, lastLockEpoch, stateRevision, revision } = row;
    return {
      ...row,
      lock: lock && toLock(lock),
      deletionLock:
        deletionEpoch !== null && deletionUntil !== null
          ? { epoch: BigInt(deletionEpoch), until: deletionUntil }
          : null,
      lastLockEpoch: BigInt(lastLockEpoch),
      stateRevision: BigInt(stateRevision),
      revision: BigInt(revision),
    };
  },

  async getForUpdate(id: WorkspaceId): Promise<LockableWorkspace> {
    const workspace = await this.findForUpdate(id);
    if (!workspace) throw workspaceNotFound();
    return workspace;
  },

  /** Writes the changes and commits the transaction. Returns the values of the workspace's document. */
  async commit(workspace: LockableWorkspace): Promise<WorkspaceView> {
    const [row] = await commitWith<WorkspaceRow>(
      em,
      // index: workspaces_pkey
      { change: changeLock, select: selectChangedWorkspaces },
      changesOf(workspace),
    );
    if (!row) throw workspaceNotFound();
    return toWorkspaceView(row);
  },

  /** Commits like `commit`, without reading the document. */
  async commitSummary(workspace: LockableWorkspace): Promise<void> {
    // index: workspaces_pkey
    const statement = { change: changeLock, select: "select id from changed" };
    await commitWith(em, statement, changesOf(workspace));
  },
});

const changesOf = (workspace: LockableWorkspace): unknown[] => [
  workspace.id,
  workspace.lock?.holder.type,
  workspace.lock?.holder.id,
  workspace.lock?.reason,
  workspace.lock?.since,
  workspace.lock?.epoch,
  workspace.deletionLock?.epoch,
  workspace.deletionLock?.until,
  workspace.lastLockEpoch,
  workspace.currentStateVersionId,
  workspace.resourceCount,
  workspace.latestChangeAt,
  workspace.stateRevision,
  workspace.autoDestroyAt,
  workspace.revision,
  workspace.updatedAt,
];

export const workspaceLocks = { rows };
