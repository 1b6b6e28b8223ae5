import type { WorkspaceId } from "./ids.ts";

/** Bytes in the blob store to which state versions refer. */
export interface Blob {
  /** Key in the store; each upload attempt has its own. */
  key: string;
  workspaceId: WorkspaceId;
  size: bigint;
  sha256: string;
  /** Number of references from state versions to these bytes. */
  references: number;
  createdAt: Date;
}
