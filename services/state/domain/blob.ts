import type { WorkspaceId } from "./ids.ts";

/** Bytes in the blob store that versions refer to. */
export class Blob {
  /** In the store; one for each upload attempt. */
  key: string;
  workspaceId: WorkspaceId;
  size: bigint;
  sha256: string;
  /** How many contents of versions are these bytes. */
  references: number;
  createdAt: Date;

  constructor(init: Pick<Blob, "key" | "workspaceId" | "size" | "sha256" | "createdAt">) {
    this.key = init.key;
    this.workspaceId = init.workspaceId;
    this.size = init.size;
    this.sha256 = init.sha256;
    this.createdAt = init.createdAt;
    this.references = 1;
  }
}
