import type { StateVersionId, StateVersionOutputId, WorkspaceId } from "./ids.ts";

/** An output as its document shows it. */
export interface StateVersionOutput {
  id: StateVersionOutputId;
  stateVersionId: StateVersionId;
  workspaceId: WorkspaceId;
  name: string;
  sensitive: boolean;
  type: string;
  detailedTypeJson: string;
  /** Null when withheld. */
  valueJson: string | null;
}
