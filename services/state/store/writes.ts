import { LockMode } from "@mikro-orm/core";
import { type EntityManager, queryIn, type Sealer } from "@statehouse/postgres";
import type { Blob } from "../domain/blob.ts";
import type { ExtractedOutput, PackedExtraction } from "../domain/extraction.ts";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import type { StateVersion } from "../domain/state-version.ts";
import type { WorkspaceState } from "../domain/workspace-state.ts";
import { holdBlobs, releaseBlobs, shareBlobs } from "./blob-references.ts";
import { forgetVersions, removeResources, removeVersions } from "./collection.ts";
import { stateVersionSchema, workspaceStateSchema } from "./entities.ts";
import { copyFindings, endContents } from "./findings.ts";
import { type OrganizationBilling, removeBilling, setBilling } from "./organization-billing.ts";
import { deleteOutputs, insertOutputs } from "./outputs.ts";
import { createRetentionWrites, type RetentionWrites } from "./retention.ts";
import { setResources } from "./workspace-resources.ts";

/**
 * A transaction's rows. What is loaded is locked FOR UPDATE and written back at the end. Every use case
 * takes them in the order workspace, version, blob, several of a kind by id, so that none waits in a ring.
 */
export interface Writes extends RetentionWrites {
  /** The workspace's row; made, without a placement, where there is none. */
  workspaceForUpdate(id: WorkspaceId): Promise<WorkspaceState>;
  /** The workspace's row if there is one. */
  knownWorkspaceForUpdate(id: WorkspaceId): Promise<WorkspaceState | undefined>;
  /** Those of the workspaces' rows that nobody else holds. */
  freeWorkspacesForUpdate(ids: readonly WorkspaceId[]): Promise<WorkspaceState[]>;
  versionForUpdate(id: StateVersionId): Promise<StateVersion | undefined>;
  /** Holds the blobs until the transaction ends. */
  holdBlobs(keys: readonly string[]): Promise<void>;
  /** Deletes rows of versions that have neither outputs nor contents any more. */
  forgetVersions(ids: readonly StateVersionId[]): Promise<void>;
  /** The newest version, the newest that is not discarded, all pending ones, and those of epoch and serial. */
  versionsBeforeCreation(
    workspaceId: WorkspaceId,
    lock: { epoch: bigint; serial: bigint },
  ): Promise<StateVersion[]>;
  /** Source, newest, newest not discarded, all pending ones, and that of the epoch with the highest serial. */
  versionsBeforeRollback(
    workspaceId: WorkspaceId,
    rollback: { epoch: bigint; sourceId: StateVersionId },
  ): Promise<StateVersion[]>;
  /** Pending ones, and finalized intermediate ones above `position`. */
  unsettledVersions(workspaceId: WorkspaceId, position: bigint): Promise<StateVersion[]>;
  addVersion(version: StateVersion): Promise<void>;
  /** A version that shares the source's blobs and has the same outputs and resources. */
  addCopy(copy: StateVersion, sourceId: StateVersionId): Promise<void>;
  addBlob(blob: Blob): void;
  addOutputs(version: StateVersion, outputs: readonly ExtractedOutput[]): Promise<void>;
  /** Deletes the outputs of versions that are held. */
  removeOutputs(ids: readonly StateVersionId[]): Promise<void>;
  /** The parts of an extraction that no rule looks at. */
  setInventory(id: StateVersionId, found: Inventory): Promise<void>;
  /** Makes the workspace's resources those of `version`; what stays the same keeps its id and times. */
  setResources(
    version: Pick<StateVersion, "id" | "workspaceId" | "createdAt">,
    instances: PackedExtraction["instances"],
  ): Promise<void>;
  /** Makes versions that are held ones without contents, outputs and resources, deleted for good. */
  endContents(ids: readonly StateVersionId[]): Promise<void>;
  /** Deletes up to `limit` versions with their outputs; answers how many, and the blobs they referred to. */
  removeVersions(
    workspaceId: WorkspaceId,
    limit: number,
  ): Promise<{ versions: number; blobKeys: string[] }>;
  setBilling(billing: OrganizationBilling): Promise<void>;
  removeBilling(organizationId: string): Promise<void>;
  /** Deletes the list of what a workspace manages. */
  removeResources(workspaceId: WorkspaceId): Promise<void>;
  /** Takes one reference off each blob; those without any are to be deleted from the store. */
  releaseBlobs(keys: readonly string[], now: Date): Promise<void>;
}

export type Inventory = Pick<PackedExtraction, "resources" | "modules" | "providers">;

/** The newest, the newest that is not discarded, and the pending ones. */
// index: state_version_position, state_version_unsettled
const latestVersions = `
  (select id from state_version where workspace_id = $1 order by position desc limit 1)
  union
  (select id from state_version where workspace_id = $1 and status <> 'discarded'
   order by position desc limit 1)
  union
  select id from state_version where workspace_id = $1 and status = 'pending'`;

/** The rows of the transaction that `em` is bound to. */
export function createWrites(em: EntityManager, sealer: Sealer): Writes {
  const forUpdate = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;

  const knownWorkspaceForUpdate = async (workspaceId: WorkspaceId) =>
    (await em.findOne(workspaceStateSchema, { workspaceId }, forUpdate)) ?? undefined;

  const lockedVersions = async (rows: readonly { id: StateVersionId }[]) => {
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return [];
    return em.find(stateVersionSchema, { id: { $in: ids } }, { ...forUpdate, orderBy: { id: 1 } });
  };

  return {
    ...createRetentionWrites(em),
    knownWorkspaceForUpdate,
    freeWorkspacesForUpdate: (ids) =>
      em.find(
        workspaceStateSchema,
        { workspaceId: { $in: [...ids] } },
        { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, orderBy: { workspaceId: 1 } },
      ),
    async holdBlobs(keys) {
      await holdBlobs(em, keys);
    },
    forgetVersions: (ids) => forgetVersions(em, ids),
    async workspaceForUpdate(id) {
      const known = await knownWorkspaceForUpdate(id);
      if (known) return known;
      await queryIn(
        em,
        `insert into workspace_state (workspace_id, placement_version, sealed_epoch,
           current_position, resource_count, revision)
         values ($1, 0, 0, 0, 0, 0) on conflict do nothing`,
        [id],
      );
      return em.findOneOrFail(workspaceStateSchema, { workspaceId: id }, forUpdate);
    },
    versionForUpdate: async (id) =>
      (await em.findOne(stateVersionSchema, { id }, forUpdate)) ?? undefined,
    versionsBeforeCreation: async (workspaceId, { epoch, serial }) =>
      lockedVersions(
        await queryIn<{ id: StateVersionId }>(
          em,
          // index: state_version_creation
          `select id from state_version where workspace_id = $1 and lock_epoch = $2 and serial = $3
           union ${latestVersions}`,
          [workspaceId, epoch, serial],
        ),
      ),
    versionsBeforeRollback: async (workspaceId, { epoch, sourceId }) =>
      lockedVersions(
        await queryIn<{ id: StateVersionId }>(
          em,
          // index: state_version_creation, state_version_pkey
          `(select id from state_version where workspace_id = $1 and lock_epoch = $2
            order by serial desc limit 1)
           union
           select id from state_version where id = $3 and workspace_id = $1
           union ${latestVersions}`,
          [workspaceId, epoch, sourceId],
        ),
      ),
    unsettledVersions: async (workspaceId, position) =>
      lockedVersions(
        await queryIn<{ id: StateVersionId }>(
          em,
          // index: state_version_status, state_version_unsettled
          `select id from state_version where workspace_id = $1 and status = 'pending'
           union
           select id from state_version where workspace_id = $1 and intermediate
             and status = 'finalized' and position > $2`,
          [workspaceId, position],
        ),
      ),
    addVersion: (version) => em.persist(version).flush(),
    async addCopy(copy, sourceId) {
      await em.persist(copy).flush();
      await copyFindings(em, sealer, sourceId, copy.id);
      await shareBlobs(
        em,
        [copy.blobKey, copy.jsonBlobKey].filter((key) => key !== null),
      );
    },
    addBlob: (blob) => void em.persist(blob),
    addOutputs: (version, outputs) => insertOutputs(em, sealer, version.id, outputs),
    removeOutputs: (ids) => deleteOutputs(em, ids),
    setResources: (version, instances) => setResources(em, version, instances),
    removeVersions: (workspaceId, limit) => removeVersions(em, workspaceId, limit),
    setBilling: (billing) => setBilling(em, billing),
    removeBilling: (organizationId) => removeBilling(em, organizationId),
    removeResources: (workspaceId) => removeResources(em, workspaceId),
    releaseBlobs: (keys, now) => releaseBlobs(em, keys, now),
    endContents: (ids) => endContents(em, ids),
    async setInventory(id, { resources, modules, providers }) {
      await queryIn(
        em,
        "update state_version set resources = $2, modules = $3, providers = $4 where id = $1",
        [id, resources, modules, providers],
      );
    },
  };
}
