import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createLogger } from "@statehouse/runtime";
import { freshBucket, needs, temporaryFolder } from "@statehouse/testing";
import { expect, it } from "vitest";
import { openDirectoryStore } from "../../object/directory-store.ts";
import { movingStore } from "../../object/moving-store.ts";
import { S3Store } from "../../object/s3-store.ts";
import type { BlobStore } from "../../object/store.ts";
import { conformance } from "../blob-store-conformance.ts";
import { onFullMinio } from "../full-minio.ts";

const never = new AbortController().signal;
const silent = createLogger({ service: "test", level: "silent" });

const put = (store: BlobStore, key: string, content: string) =>
  store.put(key, Readable.from([Buffer.from(content)]), { size: content.length }, never);

async function contentOf(store: BlobStore, key: string): Promise<string> {
  const target = new PassThrough();
  const [content] = await Promise.all([text(target), store.get(key, () => target, never)]);
  return content;
}

async function keysOf(store: BlobStore, after?: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list({ after })) keys.push(key);
  return keys;
}

needs("minio")("a store whose contents move from a folder to MinIO", () => {
  let from: BlobStore;
  let to: S3Store;
  let moving: BlobStore;
  conformance(async (stack) => {
    const folder = stack.use(await temporaryFolder());
    from = await openDirectoryStore(folder.path);
    to = new S3Store(stack.use(await freshBucket()), silent);
    await to.prepared;
    moving = movingStore({ from, to });
    return { store: moving, onFullDisk: onFullMinio };
  });

  it("reads missing blobs from the old store and writes new ones to the new store", async () => {
    await put(from, "ws-m/old", "old");
    await put(moving, "ws-m/new", "new");
    expect(await contentOf(moving, "ws-m/old")).toBe("old");
    expect(await contentOf(moving, "ws-m/new")).toBe("new");
    expect(await moving.sizeOf("ws-m/old")).toBe(3);
    expect([await to.sizeOf("ws-m/old"), await from.sizeOf("ws-m/new")]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("lists both stores in one order without duplicates, and deletes in both", async () => {
    await moving.delete(await keysOf(moving));
    for (const key of ["ws-1/a", "ws-1/c", "ws-3/a"]) await put(from, key, "x");
    for (const key of ["ws-1/b", "ws-1/c", "ws-2/a", "ws-4/a"]) await put(to, key, "x");
    const all = ["ws-1/a", "ws-1/b", "ws-1/c", "ws-2/a", "ws-3/a", "ws-4/a"];
    expect(await keysOf(moving)).toEqual(all);
    for (const [index, key] of all.entries()) {
      expect(await keysOf(moving, key)).toEqual(all.slice(index + 1));
    }
    await moving.delete(["ws-1/c", "ws-2/a", "ws-3/a"]);
    expect([await keysOf(from), await keysOf(to)]).toEqual([["ws-1/a"], ["ws-1/b", "ws-4/a"]]);
  });
});
