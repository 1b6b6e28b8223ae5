import { createHash, randomBytes } from "node:crypto";
import { addAbortListener } from "node:events";
import {
  access,
  constants,
  type FileHandle,
  open,
  rename,
  rm,
  rmdir,
  stat,
} from "node:fs/promises";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError, hasCode } from "@statehouse/errors";
import { makeFolder, StartError, withRetry } from "@statehouse/runtime";
import type { ByteRange } from "./byte-range-domain.ts";
import { ContentMeter } from "./content-meter-store.ts";
import { entriesOf, keysAmong } from "./directory-listing-store.ts";
import { DurableFolders } from "./durable-folders-store.ts";
import { blobDamaged, blobMissing, storeUnavailable } from "./errors-store.ts";
import { ReadBuffers } from "./read-buffers-store.ts";
import type { BlobStore, ExpectedContent, StoredBlob } from "./store.ts";

const UNFINISHED = "unfinished";
const BLOBS = "blobs";
const MOVE_ATTEMPTS = 5;

/**
 * Opens the store in a folder, for one replica. Deletes incomplete files that a killed process left. With `beside`,
 * keeps these files, because another process may still be writing them. Throws `StartError`.
 */
export async function openDirectoryStore(
  folder: string,
  { beside = false } = {},
): Promise<BlobStore> {
  const store = new DirectoryStore(folder);
  try {
    if (beside) await store.ready();
    else await store.clean();
  } catch (error) {
    const cause = error instanceof AppError ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StartError(`Cannot keep state contents in ${folder}: ${reason}`);
  }
  return store;
}

class DirectoryStore implements BlobStore {
  readonly #unfinished: string;
  readonly #blobs: string;
  readonly #folders: DurableFolders;
  readonly #buffers = new ReadBuffers();

  constructor(folder: string) {
    this.#unfinished = path.join(folder, UNFINISHED);
    this.#blobs = path.join(folder, BLOBS);
    this.#folders = new DurableFolders(this.#blobs);
  }

  async clean(): Promise<void> {
    await rm(this.#unfinished, { recursive: true, force: true });
    await makeFolder(this.#unfinished, 0o700);
    await makeFolder(this.#blobs, 0o700);
  }

  async put(
    key: string,
    body: Readable,
    expected: ExpectedContent,
    signal: AbortSignal,
  ): Promise<StoredBlob> {
    const unfinished = path.join(this.#unfinished, randomBytes(12).toString("hex"));
    const finished = this.#pathOf(key);
    const meter = new ContentMeter(expected, { md5: "computed" });
    let written = unfinished;
    try {
      await using file = await open(unfinished, "wx", 0o600);
      await pipeline(
        meter.measure(body),
        async (chunks: AsyncIterable<Buffer>) => {
          for await (const chunk of chunks) await file.writeFile(chunk);
        },
        { signal },
      );
      await this.#move(unfinished, finished);
      written = finished;
      // The order of these syncs does not matter, because the key gets a row only after both. Until then, the bytes
      // under the key may be incomplete after a power failure.
      await Promise.all([file.sync(), this.#folders.sync(path.dirname(finished))]);
      return meter.digests;
    } catch (error) {
      await rm(written, { force: true }).catch(() => {});
      signal.throwIfAborted();
      throw error instanceof AppError ? error : storeUnavailable(error);
    } finally {
      meter.destroy();
    }
  }

  async get(
    key: string,
    openTarget: (size: number) => Writable,
    signal: AbortSignal,
    range?: ByteRange,
  ) {
    try {
      await using file = await open(this.#pathOf(key), "r");
      const { size } = await file.stat();
      const target = openTarget(size);
      using _ = addAbortListener(signal, () => target.destroy());
      try {
        await this.#copy(file, range ?? { start: 0, end: size - 1 }, target, signal);
      } catch (error) {
        target.destroy();
        throw error;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError) throw error;
      throw hasCode(error, "ENOENT") ? blobMissing(key, error) : storeUnavailable(error);
    }
  }

  async sizeOf(key: string): Promise<number | undefined> {
    try {
      return (await stat(this.#pathOf(key))).size;
    } catch (error) {
      if (hasCode(error, "ENOENT")) return undefined;
      throw storeUnavailable(error);
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    const failures: unknown[] = [];
    for (const key of keys) {
      const file = this.#pathOf(key);
      try {
        await rm(file, { force: true });
        await removeEmpty(path.dirname(file), this.#blobs);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw storeUnavailable(failures[0]);
  }

  async *list({ after = "" }: { after?: string | undefined } = {}): ReturnType<BlobStore["list"]> {
    const shards = (await entriesOf(this.#blobs)).map(({ name }) => path.join(this.#blobs, name));
    // All keys of a workspace are in one shard, so sorting the names in the top folders is enough.
    const tops = await Promise.all(shards.map(entriesOf));
    for await (const key of keysAmong(tops.flat(), "", after)) {
      const size = await this.sizeOf(key);
      // A file without a size was deleted in the meantime and is not listed.
      if (size !== undefined) yield { key, size };
    }
  }

  async ready(): Promise<void> {
    await access(this.#blobs, constants.R_OK | constants.W_OK).catch((error: unknown) => {
      throw storeUnavailable(error);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #move(from: string, to: string): Promise<void> {
    // A concurrent deletion may have removed the folder because it was empty.
    const isRetryable = (error: unknown) => hasCode(error, "ENOENT");
    return withRetry({ attempts: MOVE_ATTEMPTS, isRetryable }, async () => {
      await this.#folders.make(path.dirname(to));
      await rename(from, to);
    });
  }

  async #copy(
    file: FileHandle,
    { start, end }: ByteRange,
    target: Writable,
    signal: AbortSignal,
  ): Promise<void> {
    const buffer = this.#buffers.take();
    try {
      for (let position = start; position <= end; ) {
        signal.throwIfAborted();
        const length = Math.min(buffer.length, end - position + 1);
        const { bytesRead } = await file.read(buffer, 0, length, position);
        if (bytesRead === 0) throw blobDamaged("the file was shortened while it was read");
        await settled(target, (done) => target.write(buffer.subarray(0, bytesRead), done));
        position += bytesRead;
      }
      await settled(target, (done) => target.end(done));
    } finally {
      this.#buffers.release(buffer);
    }
  }

  /** Returns the path of a key. Keys are sharded by workspace, so that no folder gets too many entries. */
  #pathOf(key: string): string {
    return path.join(this.#blobs, shardOf(key), ...key.split("/"));
  }
}

const shardOf = (key: string): string =>
  createHash("sha256").update(key.split("/", 1).join()).digest("hex").slice(0, 2);

async function removeEmpty(folder: string, end: string): Promise<void> {
  for (let current = folder; current !== end; current = path.dirname(current)) {
    try {
      await rmdir(current);
    } catch (error) {
      if (hasCode(error, "ENOENT")) continue;
      if (hasCode(error, "ENOTEMPTY", "EEXIST")) return;
      throw error;
    }
  }
}

/** Waits for a write's callback or for the target to close, whichever comes first. */
function settled(
  target: Writable,
  work: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const closed = () =>
      done(target.writableFinished ? null : new Error("the reader has disconnected"));
    const done = (error?: Error | null) => {
      target.off("close", closed);
      target.off("error", done);
      if (error) reject(error);
      else resolve();
    };
    target.once("close", closed);
    target.once("error", done);
    if (target.destroyed) closed();
    else work(done);
  });
}
