import type { Database } from "@statehouse/postgres";
import type { StateVersionId, WorkspaceId } from "../ids-domain.ts";

/** What the database records about the raw state or the JSON form of a version. Digests are lower-case hex. */
export interface ContentRow {
  versionId: StateVersionId;
  workspaceId: WorkspaceId;
  key: string;
  size: number | null;
  sha256: string | null;
  /** The md5 that the create request announced; null for JSON. */
  md5: string | null;
  /** Values of the blob's own row; null if that row is missing. */
  blob: { size: number; sha256: string; references: number } | null;
}

interface Row {
  id: StateVersionId;
  contents: ContentRow[];
}

// index: state_versions_pkey, blobs_pkey
const selectContents = `
  select version.id,
    (select coalesce(json_agg(json_build_object('versionId', version.id,
        'workspaceId', version.workspace_id, 'key', content.key, 'size', content.size,
        'sha256', content.sha256, 'md5', content.md5,
        'blob', case when blob.key is null then null else json_build_object(
          'size', blob.size, 'sha256', blob.sha256, 'references', blob."references") end)), '[]')
     from (values (version.blob_key, version.size, version.sha256, version.md5),
       (version.json_blob_key, version.json_size, version.json_sha256, null)
     ) as content (key, size, sha256, md5)
     left join blobs blob on blob.key = content.key
     where content.key is not null) as contents
  from state_versions version`;

const contentsIn = (rows: readonly Row[]): ContentRow[] => rows.flatMap(({ contents }) => contents);

/** Reads the contents that the database records, for the comparison with the bytes in the store. */
const reads = (database: Database) => ({
  async countVersions(): Promise<number> {
    const [row] = await database.query<{ count: number }>(
      "select count(*) as count from state_versions",
    );
    return row?.count ?? 0;
  },

  /**
   * Returns the contents of the next versions, whose ids follow `after`, in the order of the ids; the number of these
   * versions; and the id of the last one.
   */
  async listAfter(
    after: string,
    limit: number,
  ): Promise<{ contents: ContentRow[]; versions: number; last: string | undefined }> {
    const rows = await database.query<Row>(
      `${selectContents} where version.id > $1 order by version.id limit $2`,
      [after, limit],
    );
    return { contents: contentsIn(rows), versions: rows.length, last: rows.at(-1)?.id };
  },

  listOf: async (ids: readonly StateVersionId[]): Promise<ContentRow[]> =>
    contentsIn(await database.query<Row>(`${selectContents} where version.id = any($1)`, [ids])),

  /** Returns versions whose status requires a raw state but whose row does not refer to one. */
  listMissing: (): Promise<{ versionId: StateVersionId; workspaceId: WorkspaceId }[]> =>
    database.query(
      `select id as "versionId", workspace_id as "workspaceId" from state_versions
       where status in ('finalized', 'backing_data_soft_deleted') and blob_key is null`,
    ),

  /** Returns blobs whose stored reference count differs from the number of actual references. */
  listMiscounted: (): Promise<{ key: string; counted: number; found: number }[]> =>
    // A single statement reads all values, so that they are consistent with each other.
    database.query(
      `select blob.key, blob."references" as counted, coalesce(used.count, 0) as found
       from blobs blob left join (
         select key, count(*) as count from (
           select blob_key as key from state_versions where blob_key is not null
           union all
           select json_blob_key from state_versions where json_blob_key is not null) refers
         group by key) used on used.key = blob.key
       where blob."references" <> coalesce(used.count, 0)`,
    ),

  /**
   * Returns the keys among `keys` that have a blob row or are scheduled for deletion. An upload in progress has no row
   * for its key yet, so callers must first exclude recent keys.
   */
  async listKnownKeys(keys: readonly string[]): Promise<string[]> {
    const rows = await database.query<{ key: string }>(
      // index: blobs_pkey, blob_deletions_pkey
      `select key from blobs where key = any($1)
       union all select key from blob_deletions where key = any($1)`,
      [keys],
    );
    return rows.map(({ key }) => key);
  },
});

export const contents = { reads };

export type ContentReads = ReturnType<typeof reads>;
