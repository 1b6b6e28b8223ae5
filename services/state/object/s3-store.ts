import { addAbortListener } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { AppError, hasCode } from "@statehouse/errors";
import { type Logger, withTimeout } from "@statehouse/runtime";
import { md5Mismatch } from "../errors-domain.ts";
import type { ByteRange } from "./byte-range-domain.ts";
import { ContentMeter } from "./content-meter-store.ts";
import { blobMissing, storeUnavailable, storeUnusable } from "./errors-store.ts";
import { connectS3, type S3Connection, type S3Settings } from "./s3-connection-store.ts";
import { deleteFrom } from "./s3-deletion-store.ts";
import { contentMd5, prepareS3 } from "./s3-preparation-store.ts";
import { s3Problem } from "./s3-problem-store.ts";
import { S3Refusal } from "./s3-transfer-store.ts";
import type { BlobStore, ExpectedContent, StoredBlob } from "./store.ts";

const URL_LIFETIME_S = 3600;
const CALL_TIMEOUT_MS = 30_000;
const DELETED_AT_ONCE = 1000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 15_000;

/**
 * The store in an S3 bucket, which is created if it is missing. Opening the store does not wait for S3, because
 * requests that need no bytes work while S3 is down.
 */
export class S3Store implements BlobStore {
  readonly #connection: S3Connection;
  readonly #settings: S3Settings;
  readonly #bucket: string;
  readonly #logger: Logger;
  readonly #closing = new AbortController();
  /** Resolves when the bucket exists and it is known whether S3 verifies the md5, or when the store is closed. */
  readonly prepared: Promise<void>;
  /** Resolves once it is known whether the store can be used. */
  readonly #tried = Promise.withResolvers<void>();
  /** Why the store cannot be used yet. */
  #problem: Error | undefined;
  /**
   * Whether S3 verifies the md5, which a probe determines. Until the probe has ended, and if S3 does not verify the
   * md5, this process computes it.
   */
  #checksMd5 = false;

  constructor(settings: S3Settings, logger: Logger) {
    this.#connection = connectS3(settings);
    this.#settings = settings;
    this.#bucket = settings.bucket;
    this.#logger = logger;
    this.prepared = this.#prepare();
  }

  async put(
    key: string,
    body: Readable,
    expected: ExpectedContent,
    signal: AbortSignal,
  ): Promise<StoredBlob> {
    const { size, md5 } = expected;
    const proven = md5 !== undefined && this.#checksMd5;
    const meter = new ContentMeter(expected, { md5: proven ? "proven elsewhere" : "computed" });
    let bodyError: unknown;
    meter.once("error", (error) => {
      bodyError ??= error;
    });
    try {
      const { transfer } = this.#connection;
      const target = await this.#connection.presignPut(key, URL_LIFETIME_S);
      const headers = {
        ...target.headers,
        "content-length": String(size),
        ...(md5 ? contentMd5(md5) : {}),
      };
      await transfer.send(target.url, meter.measure(body), headers, signal);
      return meter.digests;
    } catch (error) {
      signal.throwIfAborted();
      if (bodyError instanceof AppError) throw bodyError;
      if (error instanceof S3Refusal && error.code === "BadDigest") throw md5Mismatch();
      throw storeUnavailable(error);
    } finally {
      meter.destroy();
    }
  }

  async get(
    key: string,
    open: (size: number) => Writable,
    signal: AbortSignal,
    range?: ByteRange,
  ): Promise<void> {
    try {
      const { client, transfer } = this.#connection;
      const url = await client.presignedGetObject(this.#bucket, key, URL_LIFETIME_S);
      await transfer.receive(url, open, signal, range);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError) throw error;
      const missing = error instanceof S3Refusal && error.code === "NoSuchKey";
      throw missing ? blobMissing(key, error) : storeUnavailable(error);
    }
  }

  async sizeOf(key: string): Promise<number | undefined> {
    const { client } = this.#connection;
    try {
      return (await this.#inTime(() => client.statObject(this.#bucket, key))).size;
    } catch (error) {
      if (hasCode(error, "NotFound", "NoSuchKey")) return undefined;
      throw storeUnavailable(error);
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (let from = 0; from < keys.length; from += DELETED_AT_ONCE) {
      const some = keys.slice(from, from + DELETED_AT_ONCE);
      await this.#call(() => deleteFrom(this.#connection.client, this.#bucket, some));
    }
  }

  async *list({ after }: { after?: string | undefined } = {}): ReturnType<BlobStore["list"]> {
    const listing = this.#connection.client.listObjectsV2(this.#bucket, "", true, after ?? "");
    const items = listing[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await this.#call(() => items.next());
        if (done) return;
        if (value.name !== undefined) yield { key: value.name, size: value.size };
      }
    } finally {
      listing.destroy();
    }
  }

  async ready(): Promise<void> {
    await this.#tried.promise;
    if (this.#problem) throw storeUnusable(this.#problem.message, this.#problem);
    const { client } = this.#connection;
    try {
      await this.#call(() => client.listObjectsV2Query(this.#bucket, "", "", "", 1, ""));
    } catch (error) {
      throw storeUnusable(s3Problem(error, this.#settings, "list the bucket"), error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.prepared;
    await this.#connection[Symbol.asyncDispose]();
  }

  async #call<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#inTime(work);
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  /** Runs `work` with a time limit, because the minio client has none. */
  async #inTime<T>(work: () => Promise<T>): Promise<T> {
    const { promise: closed, reject } = Promise.withResolvers<never>();
    using _ = addAbortListener(this.#closing.signal, () =>
      reject(new Error("the store is closed")),
    );
    const late = () => new Error("the store did not respond in time");
    return await withTimeout(CALL_TIMEOUT_MS, Promise.race([work(), closed]), late);
  }

  async #prepare(): Promise<void> {
    const { signal } = this.#closing;
    for (let wait = FIRST_RETRY_MS; !signal.aborted; wait = Math.min(wait * 2, LAST_RETRY_MS)) {
      try {
        const found = await this.#inTime(() => prepareS3(this.#connection, this.#settings));
        this.#checksMd5 = found.checksMd5;
        this.#problem = undefined;
        if (!found.checksMd5) {
          this.#logger.warn("S3 ignores Content-MD5; this process verifies the md5 of uploads");
        }
        this.#tried.resolve();
        return;
      } catch (error) {
        if (signal.aborted) break;
        this.#complain(error instanceof Error ? error : new Error(String(error)));
        await pause(wait, undefined, { signal }).catch(() => {});
      }
    }
    this.#tried.resolve();
  }

  /**
   * Logs a problem as an error unless the previous problem was the same, because the preparation is retried repeatedly.
   */
  #complain(problem: Error): void {
    const level = problem.message === this.#problem?.message ? "debug" : "error";
    this.#logger[level]({ err: problem.cause ?? problem }, problem.message);
    this.#problem = problem;
    this.#tried.resolve();
  }
}
