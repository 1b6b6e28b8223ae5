import { type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import type { RetentionDue } from "../domain/retention.ts";
import type { StateVersion, StateVersionStatus } from "../domain/state-version.ts";

/** A version that looked due when it was read. */
export interface RetentionCandidate {
  id: StateVersionId;
  workspaceId: WorkspaceId;
  position: bigint;
}

/** What of a workspace is looked at: what is due, after a position. */
export interface RetentionLook {
  due: RetentionDue;
  after: bigint;
}

interface CandidateRow {
  id: StateVersionId;
  workspace_id: WorkspaceId;
  position: number;
}

/** Where the collector looks, without holding anything. */
export interface RetentionReads {
  /** Ids of workspaces with a current version, in this database's order. */
  workspacesAfter(after: string, limit: number): Promise<WorkspaceId[]>;
  /** Of each workspace the oldest versions with contents, up to `limit`, that are due and not the current one. */
  dueVersions(looks: readonly RetentionLook[], limit: number): Promise<RetentionCandidate[]>;
}

export const createRetentionReads = (database: Database): RetentionReads => ({
  async workspacesAfter(after, limit) {
    const rows = await database.query<{ workspace_id: WorkspaceId }>(
      // index: workspace_state_pkey
      `select workspace_id from workspace_state
       where workspace_id > $1 and dropped_at is null and current_version_id is not null
       order by workspace_id limit $2`,
      [after, limit],
    );
    return rows.map((row) => row.workspace_id);
  },
  async dueVersions(looks, limit) {
    const rows = await database.query<CandidateRow>(
      // index: workspace_state_pkey, state_version_contents
      `select version.id, version.workspace_id, version.position
       from unnest($1::text[], $2::timestamptz[], $3::bigint[]) as look (workspace_id, before, after)
       join workspace_state workspace on workspace.workspace_id = look.workspace_id
         and workspace.dropped_at is null
       cross join lateral (
         select id, workspace_id, position from state_version
         where workspace_id = look.workspace_id and blob_key is not null
           and position > look.after and position < workspace.current_position
           and created_at < look.before
         order by position limit $4) version
       order by version.workspace_id, version.position`,
      [
        looks.map(({ due }) => due.workspaceId),
        looks.map(({ due }) => due.before),
        looks.map(({ after }) => after),
        limit,
      ],
    );
    return rows.map((row) => ({
      id: row.id,
      workspaceId: row.workspace_id,
      position: BigInt(row.position),
    }));
  },
});

/** What a collecting transaction knows of a version that it holds. */
export type CollectibleVersion = Pick<
  StateVersion,
  "id" | "workspaceId" | "position" | "status" | "createdAt" | "size" | "blobKey" | "jsonBlobKey"
>;

interface CollectibleRow extends CandidateRow {
  status: StateVersionStatus;
  created_at: Date;
  size: number | null;
  blob_key: string | null;
  json_blob_key: string | null;
}

/** What a collecting transaction asks beside the rows it holds. */
export interface RetentionWrites {
  /** Nobody raises it before the transaction ends. */
  retentionVersion(): Promise<bigint>;
  raiseRetentionVersion(version: bigint): Promise<void>;
  /** Held until the transaction ends. As plain rows: the ORM takes ten times as long for so many. */
  holdCollectible(ids: readonly StateVersionId[]): Promise<CollectibleVersion[]>;
  /** Those of the versions whose blob a later copy shares. Call it while the blobs are held. */
  sharedVersions(ids: readonly StateVersionId[]): Promise<Set<StateVersionId>>;
  /** When the first of the organization's last `count` states was created; undefined: it has fewer. */
  lastStatesBegin(organizationId: string, count: number): Promise<Date | undefined>;
}

export const createRetentionWrites = (em: EntityManager): RetentionWrites => ({
  async retentionVersion() {
    const [row] = await queryIn<{ version: number }>(
      em,
      "select version from retention_version for share",
    );
    if (!row) throw new Error("the row of the retention version is missing");
    return BigInt(row.version);
  },
  async raiseRetentionVersion(version) {
    await queryIn(em, "update retention_version set version = greatest(version, $1)", [version]);
  },
  async holdCollectible(ids) {
    const rows = await queryIn<CollectibleRow>(
      em,
      // index: state_version_pkey
      `select id, workspace_id, position, status, created_at, size, blob_key, json_blob_key
       from state_version where id = any($1) order by id for update`,
      [ids],
    );
    return rows.map((row) => ({
      id: row.id,
      workspaceId: row.workspace_id,
      position: BigInt(row.position),
      status: row.status,
      createdAt: row.created_at,
      size: row.size === null ? null : BigInt(row.size),
      blobKey: row.blob_key,
      jsonBlobKey: row.json_blob_key,
    }));
  },
  async sharedVersions(ids) {
    const rows = await queryIn<{ id: StateVersionId }>(
      em,
      // index: state_version_pkey, state_version_copies
      `select version.id from state_version version where version.id = any($1) and exists (
         select from state_version copy where copy.blob_key = version.blob_key
           and copy.rollback_version_id is not null and copy.position > version.position)`,
      [ids],
    );
    return new Set(rows.map(({ id }) => id));
  },
  async lastStatesBegin(organizationId, count) {
    const [row] = await queryIn<{ created_at: Date }>(
      em,
      // index: workspace_state_organization, state_version_contents
      `select version.created_at from workspace_state workspace
       cross join lateral (
         select created_at from state_version
         where workspace_id = workspace.workspace_id and blob_key is not null
         order by position desc limit $2) version
       where workspace.organization_id = $1 and workspace.dropped_at is null
       order by version.created_at desc offset $2 - 1 limit 1`,
      [organizationId, count],
    );
    return row?.created_at;
  },
});
