import { newRow } from "@statehouse/postgres/new-row";
import type { WorkspaceId } from "../ids-domain.ts";

/** Bytes in the blob store to which state versions refer. */
export class Blob {
  /** Key in the store; each upload attempt has its own. */
  declare key: string;
  declare workspaceId: WorkspaceId;
  declare size: bigint;
  declare sha256: string;
  /** Number of references from state versions to these bytes. */
  declare references: number;
  declare createdAt: Date;
}

/** Creates a blob to which one state version refers. */
export const newBlob = (fields: Omit<Blob, "references">): Blob =>
  newRow(Blob, { ...fields, references: 1 });
