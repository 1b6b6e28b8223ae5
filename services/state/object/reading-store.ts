import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { Writable } from "node:stream";
import { withRetry } from "@statehouse/runtime";
import { isBlobMissing } from "./errors-store.ts";
import type { BlobStore, StoredBlob } from "./store.ts";

const ATTEMPTS = 6;
const FIRST_RETRY_MS = 250;

/** Reads the bytes of a key, also into `file` if it is given, and returns their digests. Throws the same errors as `get`. */
export async function digestsOf(
  store: BlobStore,
  key: string,
  signal: AbortSignal,
  file?: FileHandle,
): Promise<StoredBlob> {
  const [sha256, md5] = [createHash("sha256"), createHash("md5")];
  let size = 0;
  const meter = new Writable({
    write(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      sha256.update(chunk);
      md5.update(chunk);
      if (file) file.writeFile(chunk).then(() => done(), done);
      else done();
    },
  });
  await store.get(key, () => meter, signal);
  return { size, sha256: sha256.digest("hex"), md5: md5.digest("hex") };
}

/**
 * Repeats `work` a few times if it fails, because a failure of a store can be temporary. A missing blob is not retried.
 */
export const withStoreRetry = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  withRetry(
    {
      attempts: ATTEMPTS,
      isRetryable: (error) => !isBlobMissing(error),
      pauseMs: (attempt) => FIRST_RETRY_MS * 2 ** (attempt - 1),
      signal,
    },
    work,
  );
