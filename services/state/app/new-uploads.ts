import { LRUCache } from "lru-cache";
import type { StateVersionId } from "../domain/ids.ts";
import type { UploadTarget } from "../domain/state-version-upload.ts";
import type { ContentKind } from "../domain/upload-token.ts";

/**
 * The versions that this process has just created, with the values that an upload reads. Clients upload the state as
 * soon as they have received the URL; the upload then need not read the version from the database before it stores the
 * bytes (section `requests` of the bench). The transaction that commits the upload detects what has changed since the
 * creation, in the same way as changes during an upload (ADR 76).
 */
export interface NewUploads {
  add(target: UploadTarget): void;
  /** Returns the version at most once for each kind of content, and only for a short time after its creation. */
  take(id: StateVersionId, kind: ContentKind): UploadTarget | undefined;
}

const MAX_TARGETS = 10_000;
const TTL_MS = 10_000;

export function createNewUploads(): NewUploads {
  const targets = new LRUCache<string, UploadTarget>({ max: MAX_TARGETS, ttl: TTL_MS });
  return {
    add(target) {
      targets.set(`${target.id} raw`, target);
      targets.set(`${target.id} json`, target);
    },
    take(id, kind) {
      const key = `${id} ${kind}`;
      const target = targets.get(key);
      targets.delete(key);
      return target;
    },
  };
}
