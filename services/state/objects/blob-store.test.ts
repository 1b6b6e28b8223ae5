import { createHash, randomBytes } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { createLogger } from "@statehouse/runtime";
import { freshBucket, needs, temporaryFolder, waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BlobStore } from "./blob-store.ts";
import { openDirectoryStore } from "./directory-store.ts";
import { S3Store } from "./s3-store.ts";

const MIB = 1024 * 1024;
const silent = createLogger({ service: "test", level: "silent" });

describe("a blob store in a folder", () => {
  conformance(async (stack) => {
    const folder = stack.use(await temporaryFolder());
    return openDirectoryStore(folder.path);
  });

  it("forgets what a killed process left half-written", async () => {
    await using folder = await temporaryFolder();
    await using before = await openDirectoryStore(folder.path);
    const body = new Readable({ read() {} });
    body.push(randomBytes(1000));
    const killed = new AbortController();
    const upload = before.put("ws-1/sv-1/raw-1", body, { size: 2000 }, killed.signal);
    const ended = expect(upload).rejects.toThrow();
    const unfinished = () => readdir(path.join(folder.path, "unfinished"));
    await waitFor(async () => (await unfinished()).length === 1);
    await using _after = await openDirectoryStore(folder.path);
    expect(await unfinished()).toEqual([]);
    killed.abort();
    await ended;
  });

  it("says in one sentence that its folder cannot be used", async () => {
    await using folder = await temporaryFolder();
    const file = path.join(folder.path, "file");
    await writeFile(file, "");
    await expect(openDirectoryStore(file)).rejects.toThrow(/^Cannot keep state contents in /);
  });
});

needs("minio")("a blob store in MinIO", () => {
  conformance(async (stack) => {
    const bucket = stack.use(await freshBucket());
    const store = new S3Store(bucket, silent);
    await store.prepared;
    return store;
  });
});

function conformance(openStore: (stack: AsyncDisposableStack) => Promise<BlobStore>): void {
  const stack = new AsyncDisposableStack();
  let store: BlobStore;
  beforeAll(async () => {
    store = stack.use(await openStore(stack));
  });
  afterAll(() => stack.disposeAsync());

  const never = new AbortController().signal;
  const key = () =>
    `ws-${randomBytes(8).toString("hex")}/sv-1/raw-${randomBytes(8).toString("hex")}`;
  const put = (at: string, content: Buffer, md5?: string) =>
    store.put(at, Readable.from(pieces(content)), { size: content.length, md5 }, never);
  const keys = async (after?: string) => {
    const found: string[] = [];
    for await (const entry of store.list({ after })) found.push(entry.key);
    return found;
  };

  it("gives back the bytes it was given", async () => {
    for (const size of [1, 1000, 3 * MIB + 17]) {
      const content = randomBytes(size);
      const at = key();
      expect(await put(at, content, hex("md5", content))).toEqual({
        size,
        sha256: hex("sha256", content),
        md5: hex("md5", content),
      });
      const target = new Collected();
      let announced = 0;
      await store.get(
        at,
        (length) => {
          announced = length;
          return target;
        },
        never,
      );
      expect(announced).toBe(size);
      expect(target.content.equals(content)).toBe(true);
    }
  });

  it("takes the digests of a body whose md5 was not announced", async () => {
    const content = randomBytes(70_000);
    expect(await put(key(), content)).toMatchObject({ md5: hex("md5", content) });
  });

  it("refuses a body with another md5 and stores nothing", async () => {
    const at = key();
    const wrong = put(at, randomBytes(200_000), hex("md5", "something else"));
    await expect(wrong).rejects.toMatchObject({ kind: "conflict", reason: "md5_mismatch" });
    expect(await keys()).not.toContain(at);
  });

  it("stores nothing of a body that ends early, goes on too long, or breaks off", async () => {
    const content = randomBytes(300_000);
    const bodies: [Readable, number][] = [
      [Readable.from(pieces(content)), content.length + 1],
      [Readable.from(pieces(content)), content.length - 1],
      [breaking(content), content.length + 1],
      [Readable.from([]), 1],
    ];
    for (const [body, size] of bodies) {
      const at = key();
      const refused = store.put(at, body, { size }, never);
      await expect(refused).rejects.toMatchObject({ reason: "content_truncated" });
      expect(await keys()).not.toContain(at);
    }
  });

  it("stores nothing when the upload is given up", async () => {
    const at = key();
    const giveUp = new AbortController();
    const body = new Readable({ read() {} });
    body.push(randomBytes(100_000));
    const upload = store.put(at, body, { size: 200_000 }, giveUp.signal);
    const ended = expect(upload).rejects.toThrow("given up");
    await pause(20);
    giveUp.abort(new Error("given up"));
    await ended;
    expect(await keys()).not.toContain(at);
    expect(body.destroyed).toBe(false);
  });

  it("says that a missing key is its own failure", async () => {
    const opened = store.get(key(), () => new Collected(), never);
    await expect(opened).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("passes on what the reader throws, and stops when the reader goes", async () => {
    const at = key();
    await put(at, randomBytes(8 * MIB));
    const refused = store.get(
      at,
      () => {
        throw new Error("not of this size");
      },
      never,
    );
    await expect(refused).rejects.toMatchObject({ kind: "unavailable" });
    const leaving = new Writable({
      write(_chunk, _encoding, done) {
        done();
        this.destroy();
      },
    });
    await expect(store.get(at, () => leaving, never)).rejects.toMatchObject({
      kind: "unavailable",
    });
    const giveUp = new AbortController();
    const stuck = new Writable({ write: () => giveUp.abort(new Error("given up")) });
    await expect(store.get(at, () => stuck, giveUp.signal)).rejects.toThrow("given up");
    const target = new Collected();
    await store.get(at, () => target, never);
    expect(target.content.length).toBe(8 * MIB);
  });

  it("keeps concurrent readers apart", async () => {
    const contents = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const content = randomBytes(5 * MIB);
        const at = key();
        await put(at, content);
        return { at, content };
      }),
    );
    await Promise.all(
      [...contents, ...contents].map(async ({ at, content }, index) => {
        const target = new Collected(index % 3);
        await store.get(at, () => target, never);
        expect(target.content.equals(content)).toBe(true);
      }),
    );
  });

  it("deletes, and deletes again", async () => {
    const [one, other] = [key(), key()];
    await put(one, Buffer.from("one"));
    await put(other, Buffer.from("other"));
    await store.delete([one]);
    await store.delete([one, key()]);
    await store.delete([]);
    const left = await keys();
    expect(left).not.toContain(one);
    expect(left).toContain(other);
  });

  it("lists every key once and goes on after any", async () => {
    const mine = Array.from({ length: 5 }, key);
    for (const at of mine) await put(at, Buffer.from(at));
    const all = await keys();
    expect(all).toEqual(expect.arrayContaining(mine));
    expect(new Set(all).size).toBe(all.length);
    for (const [index, at] of all.entries()) expect(await keys(at)).toEqual(all.slice(index + 1));
    expect(await keys(all.at(-1))).toEqual([]);
  });

  it("says that it is ready", async () => {
    await store.ready();
  });

  it("moves 64 MiB in flat memory", { timeout: 60_000 }, async () => {
    const size = 64 * MIB;
    const at = key();
    // What moving bytes needs at all is taken before the measurement.
    await put(key(), randomBytes(16 * MIB));
    const before = process.memoryUsage().external;
    let highest = before;
    const watch = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().external);
    }, 5);
    const piece = randomBytes(64 * 1024);
    const body = Readable.from(
      (function* () {
        for (let sent = 0; sent < size; sent += piece.length) yield piece;
      })(),
    );
    await store.put(at, body, { size }, never);
    let received = 0;
    const counting = new Writable({
      write(chunk: Buffer, _encoding, done) {
        received += chunk.length;
        setImmediate(done);
      },
    });
    await store.get(at, () => counting, never);
    clearInterval(watch);
    expect(received).toBe(size);
    expect(highest - before).toBeLessThan(16 * MIB);
  });
}

const hex = (algorithm: string, content: Buffer | string) =>
  createHash(algorithm).update(content).digest("hex");

function* pieces(content: Buffer): Iterable<Buffer> {
  for (let from = 0; from < content.length; from += 50_000) {
    yield content.subarray(from, from + 50_000);
  }
}

const breaking = (content: Buffer): Readable =>
  Readable.from(
    (async function* () {
      yield content;
      await pause(5);
      throw new Error("the connection broke");
    })(),
  );

/** Copies what it gets, as the store's memory is used again; `slowness` ms for each write. */
class Collected extends Writable {
  readonly #chunks: Buffer[] = [];
  readonly #slowness: number;

  constructor(slowness = 0) {
    super();
    this.#slowness = slowness;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const copy = () => {
      this.#chunks.push(Buffer.from(chunk));
      done();
    };
    if (this.#slowness > 0) setTimeout(copy, this.#slowness);
    else copy();
  }

  get content(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
