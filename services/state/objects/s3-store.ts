import { randomBytes } from "node:crypto";
import { addAbortListener } from "node:events";
import { Readable, type Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "@statehouse/errors";
import type { Logger } from "@statehouse/runtime";
import { Client } from "minio";
import { md5Mismatch, storeUnavailable } from "./blob-errors.ts";
import type { BlobEntry, BlobStore, ExpectedContent, StoredBlob } from "./blob-store.ts";
import { ContentMeter } from "./content-meter.ts";
import { S3Refusal, S3Transfer } from "./s3-transfer.ts";

export interface S3Settings {
  /** `http://host:port` or `https://host`. */
  endpoint: string;
  bucket: string;
  accessKey: string;
  secretKey: string;
  region: string;
}

const URL_LIFETIME_S = 3600;
const CALL_TIMEOUT_MS = 30_000;
const DELETED_AT_ONCE = 1000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 15_000;

/**
 * The store in an S3 bucket, which it makes if it is missing. Opening does not wait for the store: it may
 * be down while everything that needs no bytes goes on.
 */
export class S3Store implements BlobStore {
  readonly #client: Client;
  readonly #bucket: string;
  readonly #region: string;
  readonly #logger: Logger;
  readonly #transfer = new S3Transfer();
  readonly #closing = new AbortController();
  /** Settles when the bucket is there and the store's habits are known; it never fails. */
  readonly prepared: Promise<void>;
  /** Proven by a probe. Until then, and where it does not, we compute the md5 ourselves. */
  #checksMd5 = false;

  constructor({ endpoint, bucket, accessKey, secretKey, region }: S3Settings, logger: Logger) {
    const { hostname, port, protocol } = new URL(endpoint);
    this.#client = new Client({
      endPoint: hostname,
      ...(port === "" ? {} : { port: Number(port) }),
      useSSL: protocol === "https:",
      accessKey,
      secretKey,
      region,
    });
    this.#bucket = bucket;
    this.#region = region;
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
      const url = await this.#client.presignedPutObject(this.#bucket, key, URL_LIFETIME_S);
      const headers = { "content-length": String(size), ...(md5 ? contentMd5(md5) : {}) };
      await this.#transfer.send(url, meter.measure(body), headers, signal);
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

  async get(key: string, open: (size: number) => Writable, signal: AbortSignal): Promise<void> {
    try {
      const url = await this.#client.presignedGetObject(this.#bucket, key, URL_LIFETIME_S);
      await this.#transfer.receive(url, open, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof AppError ? error : storeUnavailable(error);
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (let from = 0; from < keys.length; from += DELETED_AT_ONCE) {
      const some = keys.slice(from, from + DELETED_AT_ONCE);
      const answers = await this.#call(() => this.#client.removeObjects(this.#bucket, some));
      const failure = answers.find((answer) => answer?.Error && answer.Error.Code !== "NoSuchKey");
      if (failure) throw storeUnavailable(new Error(`delete: ${failure.Error?.Code}`));
    }
  }

  async *list({ after }: { after?: string | undefined } = {}): AsyncIterable<BlobEntry> {
    const listing = this.#client.listObjectsV2(this.#bucket, "", true, after ?? "");
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
    if (!(await this.#call(() => this.#client.bucketExists(this.#bucket)))) {
      throw storeUnavailable(new Error(`there is no bucket ${this.#bucket}`));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.prepared;
    await this.#transfer[Symbol.asyncDispose]();
  }

  /** The minio client sets no time limits of its own. */
  async #call<T>(work: () => Promise<T>): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error("no answer in time")), CALL_TIMEOUT_MS);
    using _ = addAbortListener(this.#closing.signal, () =>
      reject(new Error("the store is closed")),
    );
    try {
      return await Promise.race([work(), late]);
    } catch (error) {
      throw storeUnavailable(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #prepare(): Promise<void> {
    const { signal } = this.#closing;
    for (let wait = FIRST_RETRY_MS; !signal.aborted; wait = Math.min(wait * 2, LAST_RETRY_MS)) {
      try {
        await this.#ensureBucket();
        this.#checksMd5 = await this.#probeMd5(signal);
        if (!this.#checksMd5)
          this.#logger.warn("the store takes wrong bytes; md5 is computed here");
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#logger.warn({ err: rootOf(error) }, "the blob store cannot be used yet");
        await pause(wait, undefined, { signal }).catch(() => {});
      }
    }
  }

  async #ensureBucket(): Promise<void> {
    if (await this.#call(() => this.#client.bucketExists(this.#bucket))) return;
    try {
      await this.#call(() => this.#client.makeBucket(this.#bucket, this.#region));
    } catch (error) {
      // Another replica may have been quicker.
      if (!(await this.#call(() => this.#client.bucketExists(this.#bucket)))) throw error;
    }
  }

  /** Whether the store itself refuses bytes that do not have the announced md5. */
  async #probeMd5(signal: AbortSignal): Promise<boolean> {
    const key = `probe-${randomBytes(8).toString("hex")}`;
    const url = await this.#client.presignedPutObject(this.#bucket, key, URL_LIFETIME_S);
    const headers = { "content-length": "5", ...contentMd5("0".repeat(32)) };
    try {
      await this.#transfer.send(url, Readable.from([Buffer.from("probe")]), headers, signal);
    } catch (error) {
      if (error instanceof S3Refusal && error.code === "BadDigest") return true;
      throw error;
    }
    await this.delete([key]);
    return false;
  }
}

const contentMd5 = (hex: string) => ({ "content-md5": Buffer.from(hex, "hex").toString("base64") });

const rootOf = (error: unknown): unknown =>
  error instanceof AppError && error.cause !== undefined ? error.cause : error;
