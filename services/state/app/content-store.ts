import { AppError, isTransient } from "@statehouse/errors";
import type { UploadClaims } from "../domain/upload-token.ts";
import type { App } from "./app.ts";
import type { UploadAttempt } from "./upload.ts";

/** The raw state or the JSON form of a version, contained in a request. */
export interface InlineContent extends Pick<UploadClaims, "workspaceId" | "versionId" | "kind"> {
  bytes: Uint8Array;
  /** Lower-case hex; undefined for JSON, because no request announces the digest of JSON. */
  md5?: string | undefined;
}

/** Stores contents that a request contains. Uploads to a URL are streamed to the store instead. */
export interface ContentStore {
  /** Stores the bytes under a key of their own. Throws `md5Mismatch` and `storeUnavailable`. */
  put(content: InlineContent, startedAt: Date): Promise<UploadAttempt>;
  /** Deletes keys that never had a row. Does not wait, and leaves to the sweeper what cannot be deleted. */
  discard(keys: readonly string[]): void;
}

/** The stored bytes of an `InlineContent`, to which no row refers yet. */
export interface StoredInline {
  kind: InlineContent["kind"];
  attempt: UploadAttempt;
}

/**
 * Stores contents, and then runs `commit`, whose transaction refers to them (ADR 75). `commit` adds to `used` the keys
 * to which the transaction refers; the other keys are deleted. If `commit` throws, all keys are deleted, or none if the
 * transaction may have been committed.
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
