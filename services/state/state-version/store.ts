import {
  type ColumnCipher,
  commitWith,
  type Database,
  type EntityManager,
  loadBoth,
  loadRows,
  offsetOf,
  type Page,
  type PageInput,
  pageWithTotal,
  queryIn,
  type RowWithTotal,
  recordsOf,
  selectRows,
  selectWhere,
  withTotal,
} from "@statehouse/postgres";
import { shareBlobs } from "../blob/store.ts";
import { stateVersionNotFound } from "../errors-domain.ts";
import type { StateVersionId, WorkspaceId } from "../ids-domain.ts";
import { usageBasedBilling } from "../organization-billing/store.ts";
import { copyDigests, deleteDigests } from "../state-digest/store.ts";
import type { PackedExtraction } from "../state-file/packed-extraction-domain.ts";
import {
  inListOf,
  type ListedVersionRow,
  listedVersionColumns,
  listedViewOf,
  type StateVersionRow,
  type StoredVersionJson,
  selectListedVersions,
  stateVersionColumns,
  storedVersion,
  storedVersionOf,
  viewOf,
} from "../state-version-document/store.ts";
import { copyOutputs, deleteOutputs } from "../state-version-output/store.ts";
import type { WorkspaceState, WorkspaceStateView } from "../workspace-state/domain.ts";
import {
  insertWorkspaceState,
  isVisible,
  workspaceStateColumns,
  workspaceStateSchema,
} from "../workspace-state/store.ts";
import type { StateVersion, StateVersionView, StoredVersion } from "./domain.ts";
import { listedStateVersions } from "./events-store.ts";
import { latestVersions, stateVersionSchema } from "./table-store.ts";

const fromVersions =
  "from state_versions version join workspace_states workspace using (workspace_id)";
const selectVersions = `select ${stateVersionColumns}, ${workspaceStateColumns} ${fromVersions}`;
// index: state_versions_pkey
const selectVisible = `${selectVersions} where version.id = $1 and ${isVisible}`;

/** SQL: the ids of the versions on which a creation with the epoch $2 and the serial $3 depends. */
const versionsBeforeCreation = `-- index: state_versions_creation, state_versions_pkey
  id = any(array(
    select id from state_versions where workspace_id = $1 and lock_epoch = $2 and serial = $3
    union ${latestVersions}))`;

/**
 * SQL: the document of a written version. The state of the workspace is read as it is after the change, because the
 * same statement can change it.
 */
const changedView = `select ${stateVersionColumns}, ${workspaceStateColumns}
  from changed version join changed_state workspace using (workspace_id)`;

const rows = (em: EntityManager, cipher: ColumnCipher) => {
  const records = recordsOf(em, stateVersionSchema, stateVersionNotFound);

  const listForUpdate = (condition: string, params: readonly unknown[]) =>
    loadRows(
      em,
      selectWhere(em, stateVersionSchema, condition, params, { order: ["id"], lock: "update" }),
    );

  return {
    ...records,

    /**
     * Locks and returns the state of the workspace, which is inserted without a placement if it is missing, and the
     * versions on which a creation depends: the newest version, the newest version that is not discarded, all pending
     * versions, and the versions with this epoch and serial.
     */
    async getForCreation(
      workspaceId: WorkspaceId,
      { epoch, serial }: { epoch: bigint; serial: bigint },
    ): Promise<{ workspaceState: WorkspaceState; known: StateVersion[] }> {
      const [[workspaceState], known] = await loadBoth(
        em,
        selectRows(em, workspaceStateSchema, { workspaceId }, { lock: "update" }),
        selectWhere(em, stateVersionSchema, versionsBeforeCreation, [workspaceId, epoch, serial], {
          order: ["id"],
          lock: "update",
        }),
      );
      if (workspaceState) return { workspaceState, known };
      await insertWorkspaceState(em, workspaceId);
      return this.getForCreation(workspaceId, { epoch, serial });
    },

    /** Locks and returns the state of the workspace and the version; each is undefined if it does not exist. */
    async findWithWorkspaceState(
      workspaceId: WorkspaceId,
      id: StateVersionId,
    ): Promise<{
      workspaceState: WorkspaceState | undefined;
      version: StateVersion | undefined;
    }> {
      const [[workspaceState], [version]] = await loadBoth(
        em,
        // index: workspace_states_pkey
        selectRows(em, workspaceStateSchema, { workspaceId }, { lock: "update" }),
        // index: state_versions_pkey
        selectRows(em, stateVersionSchema, { id }, { lock: "update" }),
      );
      return { workspaceState, version };
    },

    /** Writes the version and commits. Returns the values of its document, with the changes of the workspace's state. */
    async commit(workspaceState: WorkspaceState, version: StateVersion): Promise<StateVersionView> {
      records.save(version);
      const written = { changed: version, changed_state: workspaceState };
      const [row] = await commitWith<StateVersionRow>(em, { rows: written, select: changedView });
      if (!row) throw stateVersionNotFound();
      return viewOf(row);
    },

    /**
     * Locks and returns the source of the rollback, the newest version, the newest version that is not discarded, all
     * pending versions, and the version with the highest serial of this epoch.
     */
    listBeforeRollback: (
      workspaceId: WorkspaceId,
      { epoch, sourceId }: { epoch: bigint; sourceId: StateVersionId },
    ): Promise<StateVersion[]> =>
      listForUpdate(
        // index: state_versions_creation, state_versions_pkey
        `id = any(array(
           (select id from state_versions where workspace_id = $1 and lock_epoch = $2
            order by serial desc limit 1)
           union
           select id from state_versions where id = $3 and workspace_id = $1
           union ${latestVersions}))`,
        [workspaceId, epoch, sourceId],
      ),

    /** Locks and returns the pending versions, and the finalized snapshots after `position`. */
    listBeforeSealing: (workspaceId: WorkspaceId, position: bigint): Promise<StateVersion[]> =>
      listForUpdate(
        // index: state_versions_status, state_versions_open
        `id = any(array(
           select id from state_versions where workspace_id = $1 and status = 'pending'
           union
           select id from state_versions where workspace_id = $1 and intermediate
             and status = 'finalized' and position > $2))`,
        [workspaceId, position],
      ),

    /** Saves a copy that shares the source's blobs, and copies the source's outputs and resources to it. */
    async saveCopy(copy: StateVersion, sourceId: StateVersionId): Promise<void> {
      records.save(copy);
      await queryIn(
        em,
        // index: state_versions_pkey
        `update state_versions copy set resources = source.resources, modules = source.modules,
           providers = source.providers, listed_resources = source.listed_resources,
           listed_modules = source.listed_modules, listed_providers = source.listed_providers,
           resource_entries = source.resource_entries
         from state_versions source where source.id = $1 and copy.id = $2`,
        [sourceId, copy.id],
      );
      await copyOutputs(em, cipher, sourceId, copy.id);
      await copyDigests(em, sourceId, copy.id);
      const keys = [copy.blobKey, copy.jsonBlobKey].filter((key) => key !== null);
      await shareBlobs(em, keys);
    },

    /** Stores the parts of an extraction that no domain rule uses. */
    async setInventory(
      id: StateVersionId,
      extraction: Pick<
        PackedExtraction,
        "resources" | "modules" | "providers" | "listed" | "resourceEntries"
      >,
    ): Promise<void> {
      const { resources, modules, providers, listed, resourceEntries } = extraction;
      await queryIn(
        em,
        // index: state_versions_pkey
        `update state_versions set resources = $2, modules = $3, providers = $4,
           resource_entries = $5, listed_resources = $6, listed_modules = $7,
           listed_providers = $8
         where id = $1`,
        [
          ...[id, resources, modules, providers, resourceEntries],
          ...[listed?.resources ?? null, listed?.modules ?? null, listed?.providers ?? null],
        ],
      );
    },

    /**
     * Marks versions as permanently deleted. Deletes their outputs and digests, and removes resources and the keys of
     * contents from their rows. The caller must have locked the rows, and must release the blobs.
     */
    async markContentsDeleted(ids: readonly StateVersionId[]): Promise<void> {
      await deleteOutputs(em, ids);
      await deleteDigests(em, ids);
      await queryIn(
        em,
        // index: state_versions_pkey
        `update state_versions set status = 'backing_data_permanently_deleted',
           soft_deleted_at = null, blob_key = null, sha256 = null, json_blob_key = null,
           json_sha256 = null, json_size = null, extraction_due_at = null,
           resources_processed = true, resources = '[]', modules = '{}', providers = '{}',
           listed_resources = null, listed_modules = null, listed_providers = null,
           resource_entries = null
         where id = any($1)`,
        [ids],
      );
    },

    /** Deletes the rows of versions. The caller must have locked the rows and deleted the outputs of the versions. */
    async remove(ids: readonly StateVersionId[]): Promise<void> {
      // index: state_versions_pkey
      await queryIn(em, "delete from state_versions where id = any($1)", [ids]);
    },

    /**
     * Deletes the workspace's oldest versions, at most `limit`, with their outputs. Returns the number of these
     * versions and the keys of their blobs.
     */
    async removeFirst(
      workspaceId: WorkspaceId,
      limit: number,
    ): Promise<{ versions: number; blobKeys: string[] }> {
      const found = await queryIn<{
        id: StateVersionId;
        blobKey: string | null;
        jsonBlobKey: string | null;
      }>(
        em,
        // index: state_versions_position
        `select id, blob_key as "blobKey", json_blob_key as "jsonBlobKey" from state_versions
         where id = any(array(
           select id from state_versions where workspace_id = $1 order by position limit $2))
         order by id for update`,
        [workspaceId, limit],
      );
      const ids = found.map(({ id }) => id);
      if (ids.length > 0) {
        await deleteOutputs(em, ids);
        await this.remove(ids);
      }
      const keys = found.flatMap(({ blobKey, jsonBlobKey }) => [blobKey, jsonBlobKey]);
      return { versions: ids.length, blobKeys: keys.filter((key) => key !== null) };
    },
  };
};

/** Identifies a version and its workspace, for workers. */
export interface VersionKey {
  id: StateVersionId;
  workspaceId: WorkspaceId;
}

/** The columns of a list's rows that are equal for all versions. */
type ListedWorkspace = WorkspaceStateView & { usageBasedBilling: boolean };

const reads = (database: Database) => ({
  async get(id: StateVersionId): Promise<StateVersionView> {
    const [row] = await database.query<StateVersionRow>(selectVisible, [id]);
    if (!row) throw stateVersionNotFound();
    return viewOf(row);
  },

  /** Returns the version without the values that only its document shows, for transfers of contents and reads of outputs. */
  async getStored(id: StateVersionId): Promise<StoredVersion> {
    const [row] = await database.query<{ version: StoredVersionJson }>(
      // index: state_versions_pkey
      `select ${storedVersion} as version ${fromVersions} where version.id = $1 and ${isVisible}`,
      [id],
    );
    if (!row) throw stateVersionNotFound();
    return storedVersionOf(row.version);
  },

  async batch(ids: readonly StateVersionId[]): Promise<StateVersionView[]> {
    // index: state_versions_pkey
    const rows = await database.query<StateVersionRow>(
      `select ${listedVersionColumns}, ${workspaceStateColumns} ${fromVersions}
       where version.id = any($1) and ${isVisible}`,
      [ids],
    );
    return rows.map(inListOf);
  },

  /**
   * Returns a page of the workspace's versions, newest first, and the state of the workspace. If `status` is not
   * undefined, the page contains only versions with this status. Returns undefined if the state service has no row of
   * the workspace.
   */
  async list(
    workspaceId: WorkspaceId,
    status: string | undefined,
    page: PageInput,
  ): Promise<{ workspaceState: WorkspaceStateView; page: Page<StateVersionView> } | undefined> {
    const found = await database.query<RowWithTotal<ListedVersionRow> & ListedWorkspace>(
      // index: workspace_states_pkey, state_version_counts_pkey
      withTotal({
        count: `select ${workspaceStateColumns},
            ${usageBasedBilling("workspace.organization_id")} as "usageBasedBilling",
            (select coalesce(sum(c.count), 0) from state_version_counts c
              where c.workspace_id = $1 ${status === undefined ? "" : "and c.status = $4"}
            ) as total
          from workspace_states workspace where workspace.workspace_id = $1`,
        select: selectListedVersions(status === undefined ? undefined : "$4"),
        order: "listed.position desc",
      }),
      [workspaceId, page.size, offsetOf(page), ...(status === undefined ? [] : [status])],
    );
    const [workspace] = found;
    if (!workspace) return undefined;
    const { rows, total } = pageWithTotal<ListedVersionRow>(found);
    return {
      workspaceState: workspace,
      page: { rows: rows.map((row) => listedViewOf(row, workspace)), total },
    };
  },

  /** Returns pending versions whose upload window has ended. */
  listExpired: (now: Date, limit: number) =>
    database.query<VersionKey>(
      // index: state_versions_expiry
      `select id, workspace_id as "workspaceId" from state_versions
       where status = 'pending' and expires_at <= $1 order by expires_at limit $2`,
      [now, limit],
    ),

  /** Returns versions whose contents were soft-deleted at or before this time, oldest first. */
  listSoftDeleted: (before: Date, limit: number) =>
    database.query<VersionKey>(
      // index: state_versions_soft_deleted
      `select id, workspace_id as "workspaceId" from state_versions
       where soft_deleted_at <= $1 order by soft_deleted_at limit $2`,
      [before, limit],
    ),
});

export const stateVersions = {
  entity: stateVersionSchema,
  rows,
  reads,
  listed: listedStateVersions,
};
