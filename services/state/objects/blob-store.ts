import type { Readable, Writable } from "node:stream";
import type { ByteRange } from "./byte-range.ts";

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
 * Bytes under keys, which never change: a key is written once. Every failure of the store itself is `unavailable`,
 * including a missing key: a row proves that the state exists, so a missing key never means "no state".
 */
export interface BlobStore extends AsyncDisposable {
  /**
   * Streams `body` into the store: afterwards all bytes are durable, or none are stored. If it fails, `body` stays
   * open. Throws `contentTruncated`, `md5Mismatch`, `storeUnavailable`, and the signal's reason.
   */
  put(
    key: string,
    body: Readable,
    expected: ExpectedContent,
    signal: AbortSignal,
  ): Promise<StoredBlob>;
  /**
   * Streams a blob, or the given range of it, into the writable that `open` returns, and ends it. `open` is called
   * once the size of the complete blob is known. The memory of a chunk is reused after its write callback. Throws
   * `blobMissing` (before `open` is called), `storeUnavailable` and the signal's reason.
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
  /** Every key after `after`, once, in ascending order. */
  list(from?: { after?: string | undefined }): AsyncGenerator<BlobEntry, void, undefined>;
  /** Throws the reason if the store cannot be used now. */
  ready(): Promise<void>;
}
