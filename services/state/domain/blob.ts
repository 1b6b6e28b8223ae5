import type { WorkspaceId } from "./ids.ts";

/** Bytes in the blob store that state versions refer to. */
export class Blob {
  /** In the store; one for each upload attempt. */
  declare key: string;
  declare workspaceId: WorkspaceId;
  declare size: bigint;
  declare sha256: string;
  /** Number of contents of versions that are these bytes. */
  declare references: number;
  declare createdAt: Date;

  constructor(fields: Fields) {
    Object.assign(this, fields);
  }
}

type Fields = { [Name in keyof Blob]: Blob[Name] };
