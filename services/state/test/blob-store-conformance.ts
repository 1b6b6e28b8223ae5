import { createHash, randomBytes } from "node:crypto";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { FaultProxy } from "@statehouse/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ByteRange } from "../object/byte-range-domain.ts";
import type { BlobStore } from "../object/store.ts";
import type { FullDiskReport } from "./full-disk.ts";

const MIB = 1024 * 1024;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** A store under test, and the faults that a test can cause from outside it. */
export interface TestedStore {
  store: BlobStore;
  /** The same store behind a fault proxy; only for stores that have a network connection. */
  overProxy?: { store: BlobStore; proxy: FaultProxy };
  /** Runs the scenario of full-disk.ts on a store of this kind whose file size is limited. */
  onFullDisk: () => Promise<FullDiskReport>;
}

/** Tests the behaviour that every store must have. */
export function conformance(open: (stack: AsyncDisposableStack) => Promise<TestedStore>): void {
  const stack = new AsyncDisposableStack();
  let tested: TestedStore;
  let store: BlobStore;
  beforeAll(async () => {
    tested = await open(stack);
    store = stack.use(tested.store);
    if (tested.overProxy) stack.use(tested.overProxy.store);
  });
  afterAll(() => stack.disposeAsync());

  const never = new AbortController().signal;
  const key = () =>
    `ws-${randomBytes(8).toString("hex")}/sv-1/raw-${randomBytes(8).toString("hex")}`;
  const put = (at: string, content: Buffer, md5?: string) =>
    store.put(at, Readable.from(pieces(content)), { size: content.length, md5 }, never);
  const get = async (at: string, range?: ByteRange) => {
    const target = new Collected();
    let announced = 0;
    const open = (size: number) => {
      announced = size;
      return target;
    };
    await store.get(at, open, never, range);
    return { announced, content: target.content };
  };
  const keys = async (after?: string) => {
    const found: string[] = [];
    for await (const entry of store.list({ after })) found.push(entry.key);
    return found;
  };

  it("returns the bytes that were stored", async () => {
    for (const size of [1, 1000, 3 * MIB + 17]) {
      const content = randomBytes(size);
      const at = key();
      expect(await put(at, content, hex("md5", content))).toEqual({
        size,
        sha256: hex("sha256", content),
        md5: hex("md5", content),
      });
      const kept = await get(at);
      expect(kept.announced).toBe(size);
      expect(kept.content.equals(content)).toBe(true);
    }
  });

  it("returns ranges and the size of the complete blob", async () => {
    const content = randomBytes(600_001);
    const at = key();
    await put(at, content);
    const last = content.length - 1;
    for (const [start, end] of [
      [0, 0],
      [0, last],
      [last, last],
      [1, 300_000],
      [262_143, 262_145],
      [500_000, last],
    ] as const) {
      const part = await get(at, { start, end });
      expect(part.announced).toBe(content.length);
      expect(part.content.equals(content.subarray(start, end + 1)), `${start}-${end}`).toBe(true);
    }
    await expect(get(at, { start: 600_000, end: 600_001 })).rejects.toMatchObject({
      kind: "unavailable",
    });
  });

  it("computes the digests of a body whose md5 was not announced", async () => {
    const content = randomBytes(70_000);
    expect(await put(key(), content)).toMatchObject({ md5: hex("md5", content) });
  });

  it("refuses a body whose md5 differs from the announced one, and stores nothing", async () => {
    const at = key();
    const wrong = put(at, randomBytes(200_000), hex("md5", "something else"));
    await expect(wrong).rejects.toMatchObject({ kind: "conflict", reason: "md5_mismatch" });
    expect(await keys()).not.toContain(at);
  });

  it("stores nothing of a body that is too short, too long or interrupted", async () => {
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

  it("stores nothing if the upload is aborted", async () => {
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

  it("reports a missing key as an error of its own", async () => {
    let opened = false;
    const target = () => {
      opened = true;
      return new Collected();
    };
    const missing = { kind: "unavailable", reason: "blob_missing" };
    await expect(store.get(key(), target, never)).rejects.toMatchObject(missing);
    const range = { start: 0, end: 1 };
    await expect(store.get(key(), target, never, range)).rejects.toMatchObject(missing);
    expect(opened).toBe(false);
  });

  it("accepts slow bodies and serves slow readers", async () => {
    const content = randomBytes(300_000);
    const at = key();
    const slow = Readable.from(
      (async function* () {
        for (const piece of pieces(content)) {
          await pause(20);
          yield piece;
        }
      })(),
    );
    await store.put(at, slow, { size: content.length, md5: hex("md5", content) }, never);
    const target = new Collected(10);
    await store.get(at, () => target, never);
    expect(target.content.equals(content)).toBe(true);
  });

  it("reports unavailable and stores no partial blob if its connection is cut", async () => {
    // A store in a folder has no connection to break. Its failure during a write is a full disk, which another test
    // covers.
    if (!tested.overProxy) return;
    const { store: far, proxy } = tested.overProxy;
    const content = randomBytes(2 * MIB);
    const at = key();
    // The request is recognized by its length, because the proxy cannot read the contents of TLS connections.
    const held = proxy.hold({ direction: "requests", when: ({ length }) => length > 10_000 });
    const expected = { size: content.length, md5: hex("md5", content) };
    const refused = far.put(at, Readable.from(pieces(content)), expected, never);
    const ended = expect(refused).rejects.toMatchObject({ kind: "unavailable" });
    await held;
    proxy.partition();
    await ended;
    const unavailable = { kind: "unavailable", reason: "blob_store" };
    const target = new Collected();
    await expect(far.get(at, () => target, never)).rejects.toMatchObject(unavailable);
    await expect(far.delete([at])).rejects.toMatchObject(unavailable);
    await expect(far.list()[Symbol.asyncIterator]().next()).rejects.toMatchObject(unavailable);
    await expect(far.ready()).rejects.toThrow(/^http\S+ does not respond/);
    proxy.release();
    proxy.heal();
    expect(await keys()).not.toContain(at);

    await put(at, content);
    const broken = far.get(
      at,
      () => {
        proxy.partition();
        return target;
      },
      never,
    );
    await expect(broken).rejects.toMatchObject(unavailable);
    expect(target.writableFinished).toBe(false);
    proxy.heal();
    const whole = new Collected();
    await far.get(at, () => whole, never);
    expect(whole.content.equals(content)).toBe(true);
  });

  it("gives up a store that does not respond", async () => {
    if (!tested.overProxy) return;
    const { store: far, proxy } = tested.overProxy;
    const at = key();
    await put(at, randomBytes(1000));
    proxy.freeze();
    const body = Readable.from(pieces(randomBytes(1000)));
    const calls = [
      far.put(key(), body, { size: 1000 }, never),
      far.get(at, () => new Collected(), never),
    ];
    for (const { status, ...answer } of await Promise.allSettled(calls)) {
      expect(status).toBe("rejected");
      expect(answer).toMatchObject({ reason: { kind: "unavailable" } });
    }
    proxy.release();
    const target = new Collected();
    await far.get(at, () => target, never);
    expect(target.content.length).toBe(1000);
  });

  it("stores nothing that does not fit and keeps existing blobs", async () => {
    expect(await tested.onFullDisk()).toEqual({
      before: "stored",
      tooLarge: ["unavailable", "unavailable"],
      keys: ["ws-1/sv-1/raw-1"],
      stillThere: true,
      after: "stored",
    });
  }, 60_000);

  it("rethrows errors of the reader and stops if the reader disconnects", async () => {
    const at = key();
    await put(at, randomBytes(8 * MIB));
    const refused = store.get(
      at,
      () => {
        throw new Error("the size differs");
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

  it("serves concurrent readers independently", async () => {
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

  it("deletes keys repeatedly without an error", async () => {
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

  it("lists every key once and continues after any key", async () => {
    const mine = Array.from({ length: 5 }, key);
    // These keys are easily sorted wrongly, because a slash must sort like any other character.
    mine.push(...["ws-1/a/b", "ws-1/a-b", "ws-1/a0", "ws-1-0", "ws-10/a"]);
    for (const at of mine) await put(at, Buffer.from(at));
    const all = await keys();
    expect(all).toEqual(expect.arrayContaining(mine));
    expect(all).toEqual(all.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(new Set(all).size).toBe(all.length);
    for (const [index, at] of all.entries()) expect(await keys(at)).toEqual(all.slice(index + 1));
    expect(await keys(all.at(-1))).toEqual([]);
  });

  it("reports that it is ready", async () => {
    await store.ready();
  });

  it("transfers a large content in a quarter of its memory", { timeout: 60_000 }, async () => {
    const size = 64 * MIB;
    const most = size / 4;
    const at = key();
    // A transfer before the measurement allocates the memory that every transfer needs.
    await put(key(), randomBytes(16 * MIB));
    const before = process.memoryUsage().external;
    let highest = before;
    // Garbage is collected before each measurement, which would otherwise include unreferenced memory.
    let moved = 0;
    const measure = (bytes: number) => {
      const steps = Math.floor(moved / (16 * MIB));
      moved += bytes;
      if (Math.floor(moved / (16 * MIB)) === steps) return;
      collectGarbage();
      highest = Math.max(highest, process.memoryUsage().external);
    };
    const piece = randomBytes(64 * 1024);
    const body = Readable.from(
      (function* () {
        for (let sent = 0; sent < size; sent += piece.length) {
          measure(piece.length);
          yield piece;
        }
      })(),
    );
    await store.put(at, body, { size }, never);
    let received = 0;
    const counting = new Writable({
      write(chunk: Buffer, _encoding, done) {
        received += chunk.length;
        measure(chunk.length);
        setImmediate(done);
      },
    });
    await store.get(at, () => counting, never);
    expect(received).toBe(size);
    expect(highest - before).toBeLessThan(most);
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

/** A target that copies its input, because the store reuses the memory. Each write takes `slowness` ms. */
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
