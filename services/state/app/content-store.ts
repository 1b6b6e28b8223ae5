import { AppError, isTransient } from "@statehouse/errors";
import type { UploadClaims } from "../domain/upload-token.ts";
import type { App } from "./app.ts";
import type { UploadAttempt } from "./upload.ts";

/** A content that a request contains. */
export interface InlineContent extends Pick<UploadClaims, "workspaceId" | "versionId" | "kind"> {
  bytes: Uint8Array;
  /** Lower-case hex; undefined for JSON, whose digest no request announces. */
  md5?: string | undefined;
}

/** Stores contents that a request contains. Uploads to an URL are streamed to the store instead. */
export interface ContentStore {
  /** Stores the bytes under a key of their own. Throws `md5Mismatch` and `storeUnavailable`. */
  put(content: InlineContent, startedAt: Date): Promise<UploadAttempt>;
  /** Deletes keys that never had a row. Does not wait, and leaves to the sweeper what cannot be deleted. */
  discard(keys: readonly string[]): void;
}

/** An inline content whose bytes are stored and which no row refers to yet. */
export interface StoredInline {
  kind: InlineContent["kind"];
  attempt: UploadAttempt;
}

/**
 * Stores contents, and then runs `commit`, whose transaction refers to them (ADR 75). `commit` adds the keys to which
 * it refers to `used`. The other keys are deleted, unless the transaction may have been committed.
 */
export async function commitStored<T>(
  app: App,
  store: ContentStore,
  contents: readonly InlineContent[],
  commit: (stored: readonly StoredInline[], used: Set<string>) => Promise<T>,
): Promise<T> {
  const stored = await Promise.all(
    contents.map(async (content) => ({
      kind: content.kind,
      attempt: await store.put(content, app.now()),
    })),
  );
  const used = new Set<string>();
  const discardUnused = () => {
    const unused = stored.map(({ attempt }) => attempt.blobKey).filter((key) => !used.has(key));
    if (unused.length > 0) store.discard(unused);
  };
  try {
    const result = await commit(stored, used);
    discardUnused();
    return result;
  } catch (error) {
    // A rule refused the change, so the transaction was rolled back. After other errors it may have been committed.
    if (error instanceof AppError && !isTransient(error)) {
      used.clear();
      discardUnused();
    }
    throw error;
  }
}
