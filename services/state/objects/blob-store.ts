import type { Readable, Writable } from "node:stream";
import type { ByteRange } from "./byte-range.ts";

/** What is known of a body before it is read. */
export interface ExpectedContent {
  /** Bytes, at least 1. */
  size: number;
  /** Lower-case hex. Other bytes are refused with the conflict `md5Mismatch`. */
  md5?: string | undefined;
}

/** What was stored; digests are lower-case hex. */
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
 * Bytes under keys, which never change: a key is put once. Every failure of the store itself is `unavailable`,
 * a missing key included: rows say what exists, so a key that is not there is never "no state".
 */
export interface BlobStore extends AsyncDisposable {
  /**
   * Streams `body` into the store: all of it is durable, or nothing is stored. Leaves `body` open when
   * it fails. Throws `contentTruncated`, `md5Mismatch`, `storeUnavailable`, and the signal's reason.
   */
  put(
    key: string,
    body: Readable,
    expected: ExpectedContent,
    signal: AbortSignal,
  ): Promise<StoredBlob>;
  /**
   * Streams a blob, or that part of it, into what `open` answers once the size of the whole blob is known, and
   * ends it. The memory of a chunk is used again as soon as its write is called back. Throws `blobMissing`
   * (before `open` is called), `storeUnavailable` and the signal's reason.
   */
  get(
    key: string,
    open: (size: number) => Writable,
    signal: AbortSignal,
    range?: ByteRange,
  ): Promise<void>;
  /** How many bytes there are under the key; undefined where there is no such key. */
  sizeOf(key: string): Promise<number | undefined>;
  /** Deletes the keys, all that can be; one that is not there is deleted already. */
  delete(keys: readonly string[]): Promise<void>;
  /** Every key once, in ascending order; those above `after`. */
  list(from?: { after?: string | undefined }): AsyncGenerator<BlobEntry, void, undefined>;
  /** Throws the reason why the store cannot be used now. */
  ready(): Promise<void>;
}
