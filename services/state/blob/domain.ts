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

  constructor(fields: Fields) {
    Object.assign(this, fields);
  }
}

type Fields = { [Name in keyof Blob]: Blob[Name] };

/** Creates a blob to which one state version refers. */
export const newBlob = (fields: Omit<Fields, "references">): Blob =>
  new Blob({ ...fields, references: 1 });
