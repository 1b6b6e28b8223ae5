import { outputNotFound, stateVersionNotFound, workspaceNotFound } from "../domain/errors.ts";
import {
  isStateVersionId,
  isStateVersionOutputId,
  isWorkspaceId,
  type StateVersionId,
  type StateVersionOutputId,
  type WorkspaceId,
} from "../domain/ids.ts";

/** What is no id of ours names nothing: `notFound`. */
export function workspaceIdOf(text: string): WorkspaceId {
  if (!isWorkspaceId(text)) throw workspaceNotFound();
  return text;
}

export function stateVersionIdOf(text: string): StateVersionId {
  if (!isStateVersionId(text)) throw stateVersionNotFound();
  return text;
}

export function outputIdOf(text: string): StateVersionOutputId {
  if (!isStateVersionOutputId(text)) throw outputNotFound();
  return text;
}
