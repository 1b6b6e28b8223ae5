import { randomBytes } from "node:crypto";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import type { ContentKind } from "../domain/upload-token.ts";

/** What an upload attempt is for. */
export interface BlobAttempt {
  workspaceId: WorkspaceId;
  versionId: StateVersionId;
  kind: ContentKind;
  startedAt: Date;
}

const form = /^ws-[A-Za-z0-9]+\/sv-[A-Za-z0-9]+\/(?:raw|json)-([0-9a-z]{1,10})-[0-9a-f]{16}$/;

/** A key that no other attempt has; its start time in it tells the sweeper its age. */
export const newBlobKey = ({ workspaceId, versionId, kind, startedAt }: BlobAttempt): string =>
  `${workspaceId}/${versionId}/${kind}-${startedAt.getTime().toString(36)}-${randomBytes(8).toString("hex")}`;

/** When the key's attempt began; undefined for what is not ours, which nobody here may touch. */
export function attemptStartedAt(key: string): Date | undefined {
  const [, started] = form.exec(key) ?? [];
  return started === undefined ? undefined : new Date(Number.parseInt(started, 36));
}
