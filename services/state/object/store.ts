import type { Readable, Writable } from "node:stream";
import type { ByteRange } from "./byte-range-domain.ts";

/** Properties of a body that are known before it is read. */
export interface ExpectedContent {
  /** Number of bytes, at least 1. */
  size: number;
  /** Lower-case hex. If the bytes have another digest, the conflict `md5Mismatch` is thrown. */
  md5?: string | undefined;
}

/** The stored content; digests are lower-case hex. */
export interface StoredBlob {
  size: number;
  sha256: string;
  md5: string;
}

export interface BlobEntry {
  key: string;
  size: number;
}

/**
 * Stores bytes under keys. A key is written once, so its bytes never change.
 *
 * Every failure of the store is `unavailable`, even a missing key: a row proves that the state exists, so a missing key
 * must not look like "no state".
 */
export interface BlobStore extends AsyncDisposable {
  /**
   * Streams `body` into the store. Afterwards either all bytes are durable or none are stored. After a failure `body`
   * is still open. Throws `contentTruncated`, `md5Mismatch`, `storeUnavailable`, and the signal's reason.
   */
  put(
    key: string,
    body: Readable,
    expected: ExpectedContent,
    signal: AbortSignal,
  ): Promise<StoredBlob>;
  /**
   * Streams a blob, or the given range of it, into the writable that `open` returns, and ends that writable. `open` is
   * called when the size of the complete blob is known. A chunk's memory is reused after its write callback.
   *
   * Throws `blobMissing` (before `open` is called), `storeUnavailable` and the signal's reason.
   */
  get(
    key: string,
    open: (size: number) => Writable,
    signal: AbortSignal,
    range?: ByteRange,
  ): Promise<void>;
  /** Returns the number of bytes under the key; undefined if the key does not exist. */
  sizeOf(key: string): Promise<number | undefined>;
  /** Deletes the keys; a missing key is treated as deleted. If it throws, any of the keys can have been deleted. */
  delete(keys: readonly string[]): Promise<void>;
  /** Yields every key after `after` once, in ascending order. */
  list(from?: { after?: string | undefined }): AsyncGenerator<BlobEntry, void, undefined>;
  /** Throws if the store cannot be used at present; the error states the reason. */
  ready(): Promise<void>;
}
