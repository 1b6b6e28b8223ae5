import type { Readable, Writable } from "node:stream";
import type { ByteRange } from "./byte-range.ts";

/** Known properties of a body before it is read. */
export interface ExpectedContent {
  /** Bytes, at least 1. */
  size: number;
  /** Lower-case hex. Other bytes are refused with the conflict `md5Mismatch`. */
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
 * Bytes under keys, which never change: a key is written once. Every failure of the store itself is `unavailable`,
 * including a missing key: rows say what exists, so a missing key is never "no state".
 */
export interface BlobStore extends AsyncDisposable {
  /**
   * Streams `body` into the store: everything is durable, or nothing is stored. Leaves `body` open if it fails. Throws
   * `contentTruncated`, `md5Mismatch`, `storeUnavailable`, and the signal's reason.
   */
  put(
    key: string,
    body: Readable,
    expected: ExpectedContent,
    signal: AbortSignal,
  ): Promise<StoredBlob>;
  /**
   * Streams a blob, or the given range of it, into the writable that `open` returns once the size of the whole blob is
   * known, and ends it. The memory of a chunk is reused after its write callback. Throws `blobMissing` (before `open`
   * is called), `storeUnavailable` and the signal's reason.
   */
  get(
    key: string,
    open: (size: number) => Writable,
    signal: AbortSignal,
    range?: ByteRange,
  ): Promise<void>;
  /** The number of bytes under the key; undefined if there is no such key. */
  sizeOf(key: string): Promise<number | undefined>;
  /** Deletes as many of the keys as possible; a missing key counts as deleted. */
  delete(keys: readonly string[]): Promise<void>;
  /** Every key once, in ascending order; those above `after`. */
  list(from?: { after?: string | undefined }): AsyncGenerator<BlobEntry, void, undefined>;
  /** Throws the reason why the store cannot be used now. */
  ready(): Promise<void>;
}
