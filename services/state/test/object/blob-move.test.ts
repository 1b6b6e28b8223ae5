import { createHash, randomBytes } from "node:crypto";
import { rm, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createLogger } from "@statehouse/runtime";
import {
  freshBucket,
  needs,
  startFaultProxy,
  type TemporaryFolder,
  temporaryFolder,
} from "@statehouse/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type BlobMove, type BlobProblem, moveBlobs } from "../../blob/move-store.ts";
import type { OwnedBlob } from "../../blob/store.ts";
import { openDirectoryStore } from "../../object/directory-store.ts";
import { S3Store } from "../../object/s3-store.ts";
import type { BlobStore } from "../../object/store.ts";

const silent = createLogger({ service: "test", level: "silent" });
const never = new AbortController().signal;

needs("minio")("moving blobs from a folder to MinIO", () => {
  let stack: AsyncDisposableStack;
  let folder: TemporaryFolder;
  let from: BlobStore;
  let to: S3Store;
  let proxy: Awaited<ReturnType<typeof startFaultProxy>>;
  const contents = new Map<string, Buffer>();
  let rows: OwnedBlob[];
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    folder = stack.use(await temporaryFolder());
    from = stack.use(await openDirectoryStore(folder.path));
    const bucket = stack.use(await freshBucket());
    const endpoint = new URL(bucket.endpoint);
    proxy = stack.use(await startFaultProxy(Number(endpoint.port)));
    endpoint.port = String(proxy.port);
    to = stack.use(new S3Store({ ...bucket, endpoint: endpoint.origin }, silent));
    await to.prepared;
    contents.clear();
    for (const size of [1, 1000, 100_000, 3_000_000, 5]) {
      const content = randomBytes(size);
      const key = `ws-${size}/sv-1/raw-1-${randomBytes(8).toString("hex")}`;
      contents.set(key, content);
      await from.put(key, Readable.from([content]), { size }, never);
    }
    rows = [...contents]
      .map(([key, content]) => ({ key, size: content.length, sha256: sha256(content) }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  });
  afterEach(() => stack.disposeAsync());

  const run = async (change: Partial<BlobMove> = {}) => {
    const problems: BlobProblem[] = [];
    let done = 0;
    const moved = await moveBlobs({
      from,
      to,
      owned: async (after, limit) => rows.filter(({ key }) => key > after).slice(0, limit),
      stillOwned: async (keys) =>
        new Set(keys.filter((key) => rows.some((row) => row.key === key))),
      done: () => void done++,
      report: (problem) => void problems.push(problem),
      signal: never,
      ...change,
    });
    return { ...moved, problems, done };
  };

  const expectMoved = async (...except: string[]) => {
    for (const [key, content] of contents) {
      if (except.includes(key)) expect(await to.sizeOf(key), key).toBeUndefined();
      else expect((await bytesOf(to, key)).equals(content), key).toBe(true);
    }
  };

  it("copies everything once, and finds nothing to copy in the second run", async () => {
    const bytes = [...contents.values()].reduce((sum, { length }) => sum + length, 0);
    expect(await run()).toEqual({
      copied: 5,
      bytes,
      alreadyThere: 0,
      gone: 0,
      problems: [],
      done: 5,
    });
    await expectMoved();
    expect(await run()).toEqual({
      copied: 0,
      bytes: 0,
      alreadyThere: 5,
      gone: 0,
      problems: [],
      done: 5,
    });
  });

  it("reports damaged and lost blobs, leaves them in place, and moves all others", async () => {
    const [changed = "", shorter = "", lost = "", ...others] = contents.keys();
    const other = contents.get(changed)?.map((byte) => byte ^ 1) ?? "";
    await writeFile(fileOf(changed), other);
    await truncate(fileOf(shorter), 999);
    await rm(fileOf(lost));
    const moved = await run();
    expect(moved).toMatchObject({ copied: others.length, done: 5 });
    expect(new Set(moved.problems)).toEqual(
      new Set([
        { key: changed, problem: "damaged" },
        { key: shorter, problem: "damaged" },
        { key: lost, problem: "lost" },
      ]),
    );
    await expectMoved(changed, shorter, lost);
    expect(await bytesOf(from, changed)).toEqual(other);
    expect(await from.sizeOf(shorter)).toBe(999);
  });

  it("treats blobs that are deleted meanwhile as deleted", async () => {
    const [first] = rows;
    await from.delete([first?.key ?? ""]);
    const stillOwned = async () => new Set<string>();
    expect(await run({ stillOwned })).toMatchObject({ copied: 4, problems: [], done: 5 });
  });

  it("retries failures of the new store and continues after an interruption", async () => {
    const stop = new AbortController();
    const held = proxy.hold({ direction: "requests", when: ({ length }) => length > 50_000 });
    const interrupted = expect(run({ signal: stop.signal })).rejects.toThrow("enough");
    await held;
    stop.abort(new Error("enough"));
    await interrupted;
    proxy.release();
    const cut = proxy.hold({ direction: "requests", when: ({ length }) => length > 50_000 });
    const going = run();
    await cut;
    proxy.partition();
    proxy.release();
    proxy.heal();
    const moved = await going;
    expect(moved.copied).toBeGreaterThan(0);
    expect([moved.copied + moved.alreadyThere, moved.problems]).toEqual([5, []]);
    await expectMoved();
  });

  const fileOf = (key: string) => {
    const shard = sha256(key.split("/", 1).join()).slice(0, 2);
    return path.join(folder.path, "blobs", shard, key);
  };
});

async function bytesOf(store: BlobStore, key: string): Promise<Buffer> {
  const target = new PassThrough({
    // Copies each chunk, because the store reuses its memory.
    transform: (chunk, _encoding, done) => done(null, Buffer.from(chunk)),
  });
  const [bytes] = await Promise.all([buffer(target), store.get(key, () => target, never)]);
  return bytes;
}

const sha256 = (content: Buffer | string) => createHash("sha256").update(content).digest("hex");
