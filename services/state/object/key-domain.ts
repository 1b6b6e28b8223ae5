import { randomBytes } from "node:crypto";
import type { UploadClaims } from "../state-version/upload-token-domain.ts";

/** What an upload attempt stores: the raw state or the JSON form of one version. */
export type BlobAttempt = Omit<UploadClaims, "expiresAt"> & { startedAt: Date };

const form = /^ws-[A-Za-z0-9]+\/sv-[A-Za-z0-9]+\/(?:raw|json)-([0-9a-z]{1,10})-[0-9a-f]{16}$/;

/**
 * Returns a key that is unique to this attempt. The key contains the start time, from which the sweeper computes the
 * age of the bytes.
 */
export const newBlobKey = ({ workspaceId, versionId, kind, startedAt }: BlobAttempt): string =>
  `${workspaceId}/${versionId}/${kind}-${startedAt.getTime().toString(36)}-${randomBytes(8).toString("hex")}`;

/**
 * Returns the start time of the attempt to which a key belongs. Undefined for foreign keys, which are never deleted.
 */
export function attemptStartedAt(key: string): Date | undefined {
  const [, started] = form.exec(key) ?? [];
  return started === undefined ? undefined : new Date(Number.parseInt(started, 36));
}
