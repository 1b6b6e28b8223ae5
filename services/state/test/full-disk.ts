import { createHash, randomBytes } from "node:crypto";
import { Readable, Writable } from "node:stream";
import { AppError } from "@statehouse/errors";
import type { BlobStore } from "../object/store.ts";

/** Maximum size of each file that a store writes, in bytes. A larger write fails as on a full disk. */
export const ROOM = 1024 * 1024;

export interface FullDiskReport {
  before: string;
  /** Results of two uploads that are too large: one announces its md5, the other does not. */
  tooLarge: string[];
  keys: string[];
  stillThere: boolean;
  after: string;
}

/** Stores a few bytes, then more bytes than fit into one file (`ROOM`), and then a few bytes again. */
export async function useFullDisk(store: BlobStore): Promise<FullDiskReport> {
  const never = new AbortController().signal;
  const content = randomBytes(1000);
  const put = (key: string, bytes: Buffer, md5?: string) =>
    store.put(key, Readable.from(piecesOf(bytes)), { size: bytes.length, md5 }, never).then(
      () => "stored",
      (error: unknown) => (error instanceof AppError ? error.kind : String(error)),
    );
  const large = randomBytes(5 * ROOM);
  const before = await put("ws-1/sv-1/raw-1", content);
  const md5 = createHash("md5").update(large).digest("hex");
  const tooLarge = [await put("ws-1/sv-2/raw-2", large, md5), await put("ws-1/sv-3/json-3", large)];
  const keys: string[] = [];
  for await (const { key } of store.list()) keys.push(key);
  const chunks: Buffer[] = [];
  const kept = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  await store.get("ws-1/sv-1/raw-1", () => kept, never);
  const stillThere = Buffer.concat(chunks).equals(content);
  return { before, tooLarge, keys, stillThere, after: await put("ws-1/sv-4/raw-4", content) };
}

function* piecesOf(bytes: Buffer): Iterable<Buffer> {
  for (let from = 0; from < bytes.length; from += 65_536) yield bytes.subarray(from, from + 65_536);
}
