import { createHash, randomBytes } from "node:crypto";

/** A state of any size, generated in chunks so that it is never completely in memory. */
export interface Content {
  readonly size: number;
  /** md5 as hex. */
  readonly md5: string;
  chunks(): Iterable<Buffer>;
}

const CHUNK = 256 * 1024;
// Random hexadecimal digits, which a store cannot compress well.
const padding = Buffer.from(randomBytes(CHUNK / 2).toString("hex"));

/** Returns a valid state of exactly `size` bytes. */
export function contentOf(size: number, lineage: string): Content {
  const head = Buffer.from(
    `{"version":4,"terraform_version":"1.11.0","serial":1,"lineage":"${lineage}","outputs":{},"resources":[],"check_results":null,"padding":"`,
  );
  const tail = Buffer.from('"}\n');
  const chunks = function* () {
    yield head;
    let left = size - head.length - tail.length;
    for (; left > CHUNK; left -= CHUNK) yield padding;
    yield padding.subarray(0, left);
    yield tail;
  };
  const hash = createHash("md5");
  for (const chunk of chunks()) hash.update(chunk);
  return { size, md5: hash.digest("hex"), chunks };
}
