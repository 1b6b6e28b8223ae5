import { type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import type { StateVersionId, WorkspaceId } from "../ids-domain.ts";
import type { StateVersion } from "../state-version/domain.ts";
import { bigintOf } from "../state-version-document/store.ts";
import type { RetentionDue } from "./domain.ts";

/** A version that was due for deletion when it was read without a lock. */
export interface RetentionCandidate {
  id: StateVersionId;
  workspaceId: WorkspaceId;
  position: bigint;
}

/** A search in one workspace for due versions after a position. */
export interface RetentionSearch {
  due: RetentionDue;
  after: bigint;
}

type CandidateRow = Omit<RetentionCandidate, "position"> & { position: number };

const reads = (database: Database) => ({
  /**
   * Returns the oldest due versions of each workspace, at most `limit` of each. Due versions have contents and are
   * older than the current version. Takes no locks.
   */
  async listDue(
    searches: readonly RetentionSearch[],
    limit: number,
  ): Promise<RetentionCandidate[]> {
    const rows = await database.query<CandidateRow>(
      // index: workspace_states_pkey, state_versions_contents
      `select version.id, version.workspace_id as "workspaceId", version.position
       from unnest($1::text[], $2::timestamptz[], $3::bigint[]) as search (workspace_id, before, after)
       join workspace_states workspace on workspace.workspace_id = search.workspace_id
         and workspace.dropped_at is null
       cross join lateral (
         select id, workspace_id, position from state_versions
         where workspace_id = search.workspace_id and blob_key is not null
           and position > search.after and position < workspace.current_position
           and created_at < search.before
         order by position limit $4) version
       order by version.workspace_id, version.position`,
      [
        searches.map(({ due }) => due.workspaceId),
        searches.map(({ due }) => due.before),
        searches.map(({ after }) => after),
        limit,
      ],
    );
    return rows.map((row) => ({ ...row, position: BigInt(row.position) }));
  },
});

/** The fields of a version that decide whether it is retained. `listForUpdate` reads them and locks the row. */
export type CollectibleVersion = Pick<
  StateVersion,
  "id" | "workspaceId" | "position" | "status" | "createdAt" | "size" | "blobKey" | "jsonBlobKey"
>;

type CollectibleRow = Omit<CollectibleVersion, "position" | "size"> & {
  position: number;
  size: number | null;
};

const rows = (em: EntityManager) => ({
  /** Returns the retention version and locks it: no other transaction raises it before this transaction ends. */
  async getVersion(): Promise<bigint> {
    const [row] = await queryIn<{ version: number }>(
      em,
      "select version from retention_version for share",
    );
    if (!row) throw new Error("the row of the retention version is missing");
    return BigInt(row.version);
  },

  /**
   * Raises the retention version. Waits for the transactions that have locked the previous version with `getVersion`.
   */
  async raiseVersion(version: bigint): Promise<void> {
    await queryIn(em, "update retention_version set version = greatest(version, $1)", [version]);
  },

  /** Locks the versions and returns them. Bypasses the ORM, which takes ten times as long for so many rows. */
  async listForUpdate(ids: readonly StateVersionId[]): Promise<CollectibleVersion[]> {
    const rows = await queryIn<CollectibleRow>(
      em,
      // index: state_versions_pkey
      `select id, workspace_id as "workspaceId", position, status, created_at as "createdAt", size,
         blob_key as "blobKey", json_blob_key as "jsonBlobKey"
       from state_versions where id = any($1) order by id for update`,
      [ids],
    );
    return rows.map((row) => ({
      ...row,
      position: BigInt(row.position),
      size: bigintOf(row.size),
    }));
  },

  /**
   * Returns the versions among `ids` to whose blobs a later copy also refers. The caller must have locked the blobs.
   */
  async listShared(ids: readonly StateVersionId[]): Promise<Set<StateVersionId>> {
    const rows = await queryIn<{ id: StateVersionId }>(
      em,
      // index: state_versions_pkey, state_versions_copies
      `select version.id from state_versions version where version.id = any($1) and exists (
         select from state_versions copy where copy.blob_key = version.blob_key
           and copy.rollback_version_id is not null and copy.position > version.position)`,
      [ids],
    );
    return new Set(rows.map(({ id }) => id));
  },

  /**
   * Returns the creation time of the oldest of the organization's newest `count` states; undefined if the organization
   * has fewer.
   */
  async findStartOfLast(organizationId: string, count: number): Promise<Date | undefined> {
    const [row] = await queryIn<{ createdAt: Date }>(
      em,
      // index: workspace_states_organization, state_versions_contents
      `select version.created_at as "createdAt" from workspace_states workspace
       cross join lateral (
         select created_at from state_versions
         where workspace_id = workspace.workspace_id and blob_key is not null
         order by position desc limit $2) version
       where workspace.organization_id = $1 and workspace.dropped_at is null
       order by version.created_at desc offset $2 - 1 limit 1`,
      [organizationId, count],
    );
    return row?.createdAt;
  },
});

export const retention = { rows, reads };
