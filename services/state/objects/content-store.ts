import { Readable } from "node:stream";
import { deadlineExceeded } from "@statehouse/errors";
import { type Logger, remainingMs, withoutDeadline } from "@statehouse/runtime";
import type { ContentStore } from "../app/content-store.ts";
import { newBlobKey } from "./blob-key.ts";
import type { BlobStore } from "./blob-store.ts";

/** Time limit in ms for storing bytes outside of a call with a deadline. */
const DEFAULT_TIMEOUT_MS = 30_000;

/** Creates the `ContentStore` that writes to the blob store. */
export const createContentStore = (
  store: Pick<BlobStore, "put" | "delete">,
  logger: Logger,
): ContentStore => ({
  async put({ bytes, md5, ...content }, startedAt) {
    const blobKey = newBlobKey({ ...content, startedAt });
    const body = Readable.from(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const signal = AbortSignal.timeout(remainingMs() ?? DEFAULT_TIMEOUT_MS);
    try {
      const stored = await store.put(blobKey, body, { size: bytes.length, md5 }, signal);
      return { ...stored, blobKey, attemptStartedAt: startedAt };
    } catch (error) {
      throw signal.aborted ? deadlineExceeded("Storing the state", error) : error;
    }
  },
  discard(keys) {
    withoutDeadline(() => store.delete(keys)).catch((error: unknown) => {
      logger.debug({ err: error, keys: keys.length }, "unused contents not deleted");
    });
  },
});
