import { Transform } from "node:stream";
import { forEachConcurrently } from "@statehouse/runtime";
import { isBlobMissing } from "../object/errors-store.ts";
import { digestsOf, withStoreRetry } from "../object/reading-store.ts";
import type { BlobStore, StoredBlob } from "../object/store.ts";
import type { OwnedBlob } from "./store.ts";

export interface BlobMove {
  from: BlobStore;
  to: BlobStore;
  /** Returns the next blobs in a stable order; an empty list after the last one. */
  owned(after: string, limit: number): Promise<OwnedBlob[]>;
  /** Returns the keys among `keys` to which versions still refer. */
  stillOwned(keys: readonly string[]): Promise<ReadonlySet<string>>;
  /** Called once for each blob, whether or not it was moved. */
  done(): void;
  /** Called for each blob that could not be moved; it stays in the old store. */
  report(problem: BlobProblem): void;
  signal: AbortSignal;
}

export interface BlobProblem {
  key: string;
  /** The bytes differ from their row, are missing, or cannot be read. */
  problem: "damaged" | "lost" | "unreadable";
}

export interface Moved {
  copied: number;
  bytes: number;
  alreadyThere: number;
  /** Blobs that were deleted after their row was read. */
  gone: number;
  problems: number;
}

const BATCH = 500;
const AT_ONCE = 4;

/**
 * Scans all owned blobs once and copies those that are missing in `to`. Each is copied completely or not at all, and
 * only if its bytes have the sha256 of its row. Throws if `to` repeatedly fails. A blob that `from` repeatedly fails to
 * return is reported as unreadable.
 *
 * No progress is stored: after a crash, the next run finds the copied blobs in `to`. A blob may be deleted just before
 * it is copied; the copied key then has no row, and the sweeper deletes it.
 */
export async function moveBlobs(move: BlobMove): Promise<Moved> {
  const moved: Moved = { copied: 0, bytes: 0, alreadyThere: 0, gone: 0, problems: 0 };
  let after = "";
  for (;;) {
    const batch = await move.owned(after, BATCH);
    const last = batch.at(-1);
    if (!last) return moved;
    after = last.key;
    await forEachConcurrently(AT_ONCE, batch, async (blob) => {
      const outcome = await moveBlob(move, blob);
      moved[outcome]++;
      if (outcome === "copied") moved.bytes += blob.size;
      move.done();
    });
  }
}

async function moveBlob(move: BlobMove, blob: OwnedBlob): Promise<Exclude<keyof Moved, "bytes">> {
  const { to, signal, report } = move;
  const { key } = blob;
  if ((await withStoreRetry(signal, () => to.sizeOf(key))) === blob.size) return "alreadyThere";
  const found = await readStored(move, blob);
  if (found === "gone") return "gone";
  if (typeof found === "object") {
    // `copy` fails if the bytes no longer have the size and md5 that `readStored` found.
    const stored = await withStoreRetry(signal, () => copy(move, found, key));
    if (stored.sha256 === blob.sha256) return "copied";
  }
  report({ key, problem: typeof found === "object" ? "damaged" : found });
  return "problems";
}

/**
 * Reads the bytes to copy and returns their digests. Returns a problem instead of throwing, so that one unreadable blob
 * does not block the other blobs.
 */
async function readStored(
  { from, stillOwned, signal }: BlobMove,
  { key, size, sha256 }: OwnedBlob,
): Promise<StoredBlob | BlobProblem["problem"] | "gone"> {
  try {
    const found = await withStoreRetry(signal, () => digestsOf(from, key, signal));
    return found.size === size && found.sha256 === sha256 ? found : "damaged";
  } catch (error) {
    if (signal.aborted) throw error;
    if (!isBlobMissing(error)) return "unreadable";
    // The blob was either deleted after its row was read, or lost.
    return (await stillOwned([key])).has(key) ? "lost" : "gone";
  }
}

async function copy(
  { from, to, signal }: BlobMove,
  { size, md5 }: StoredBlob,
  key: string,
): Promise<StoredBlob> {
  // Chunks are copied before they are queued, because the store reuses their memory.
  const body = new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(null, Buffer.from(chunk)),
  });
  const broken = new AbortController();
  const either = AbortSignal.any([signal, broken.signal]);
  const reading = from.get(key, () => body, either);
  const writing = to.put(key, body, { size, md5 }, either);
  try {
    const [stored] = await Promise.all([writing, reading]);
    return stored;
  } catch (error) {
    broken.abort(error);
    await Promise.allSettled([reading, writing]);
    throw error;
  } finally {
    body.destroy();
  }
}
