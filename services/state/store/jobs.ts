import type { Database } from "@statehouse/postgres";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";

export interface ClaimedExtraction {
  versionId: StateVersionId;
  workspaceId: WorkspaceId;
  blobKey: string;
  size: number;
  attempt: number;
}

/** What the workers look for; each a single statement. Any number of replicas may ask at once. */
export interface Jobs {
  /** Takes the version that has waited longest for extraction, until `leaseUntil`. */
  claimExtraction(now: Date, leaseUntil: Date): Promise<ClaimedExtraction | undefined>;
  /** Moves the end of the claim; false when it is another's by now. */
  renewExtraction(claim: ClaimedExtraction, leaseUntil: Date): Promise<boolean>;
  /** Pending versions whose window is over. */
  expiredVersions(
    now: Date,
    limit: number,
  ): Promise<{ id: StateVersionId; workspaceId: WorkspaceId }[]>;
  /** Versions whose contents were soft-deleted at or before this time, the oldest first. */
  softDeletedVersions(
    before: Date,
    limit: number,
  ): Promise<{ id: StateVersionId; workspaceId: WorkspaceId }[]>;
  /** Dropped workspaces that still have rows. */
  uncollectedWorkspaces(limit: number): Promise<WorkspaceId[]>;
  /** Those of the keys that some version refers to. */
  ownedBlobs(keys: readonly string[]): Promise<string[]>;
  /** Blobs that versions refer to, above `after`, in an order of the database's own. */
  blobsAfter(
    after: string,
    limit: number,
  ): Promise<{ key: string; size: number; sha256: string }[]>;
  countBlobs(): Promise<number>;
  /** Keys to delete, not handed out again before `until`. */
  takeBlobDeletions(now: Date, until: Date, limit: number): Promise<string[]>;
  confirmBlobDeletions(keys: readonly string[]): Promise<void>;
}

export const createJobs = (database: Database): Jobs => ({
  async claimExtraction(now, leaseUntil) {
    const [row] = await database.query<{
      id: StateVersionId;
      workspace_id: WorkspaceId;
      blob_key: string;
      size: number;
      extraction_attempts: number;
    }>(
      // index: state_version_extraction
      `update state_version
       set extraction_due_at = $2, extraction_attempts = extraction_attempts + 1
       where id = (
         select id from state_version where extraction_due_at <= $1
         order by extraction_due_at limit 1 for update skip locked)
       returning id, workspace_id, blob_key, size, extraction_attempts`,
      [now, leaseUntil],
    );
    return (
      row && {
        versionId: row.id,
        workspaceId: row.workspace_id,
        blobKey: row.blob_key,
        size: row.size,
        attempt: row.extraction_attempts,
      }
    );
  },
  async renewExtraction({ versionId, attempt }, leaseUntil) {
    const renewed = await database.query(
      // index: state_version_pkey
      `update state_version set extraction_due_at = $3
       where id = $1 and extraction_attempts = $2 and extraction_due_at is not null returning id`,
      [versionId, attempt, leaseUntil],
    );
    return renewed.length > 0;
  },
  async expiredVersions(now, limit) {
    const rows = await database.query<{ id: StateVersionId; workspace_id: WorkspaceId }>(
      // index: state_version_expiry
      `select id, workspace_id from state_version
       where status = 'pending' and expires_at <= $1 order by expires_at limit $2`,
      [now, limit],
    );
    return rows.map((row) => ({ id: row.id, workspaceId: row.workspace_id }));
  },
  async softDeletedVersions(before, limit) {
    const rows = await database.query<{ id: StateVersionId; workspace_id: WorkspaceId }>(
      // index: state_version_soft_deleted
      `select id, workspace_id from state_version
       where soft_deleted_at <= $1 order by soft_deleted_at limit $2`,
      [before, limit],
    );
    return rows.map((row) => ({ id: row.id, workspaceId: row.workspace_id }));
  },
  async uncollectedWorkspaces(limit) {
    const rows = await database.query<{ workspace_id: WorkspaceId }>(
      // index: workspace_state_uncollected
      `select workspace_id from workspace_state
       where dropped_at is not null and collected_at is null order by dropped_at limit $1`,
      [limit],
    );
    return rows.map((row) => row.workspace_id);
  },
  async ownedBlobs(keys) {
    // index: blob_pkey
    const rows = await database.query<{ key: string }>("select key from blob where key = any($1)", [
      keys,
    ]);
    return rows.map(({ key }) => key);
  },
  blobsAfter: (after, limit) =>
    // index: blob_pkey
    database.query("select key, size, sha256 from blob where key > $1 order by key limit $2", [
      after,
      limit,
    ]),
  async countBlobs() {
    const rows = await database.query<{ count: number }>("select count(*) as count from blob", []);
    return Number(rows[0]?.count);
  },
  async takeBlobDeletions(now, until, limit) {
    const rows = await database.query<{ key: string }>(
      // index: blob_deletions_due
      `update blob_deletions set due_at = $2 where key = any(array(
         select key from blob_deletions where due_at <= $1 order by due_at limit $3
         for update skip locked))
       returning key`,
      [now, until, limit],
    );
    return rows.map(({ key }) => key);
  },
  async confirmBlobDeletions(keys) {
    await database.query("delete from blob_deletions where key = any($1)", [keys]);
  },
});
