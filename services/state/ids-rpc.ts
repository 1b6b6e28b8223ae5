import { isId } from "@statehouse/postgres/ids";
import { outputNotFound, stateVersionNotFound, workspaceNotFound } from "./errors-domain.ts";
import type { StateVersionId, StateVersionOutputId, WorkspaceId } from "./ids-domain.ts";

// Each function throws `notFound` if the string is not a well-formed id, because no row can have it.

export function workspaceId(text: string): WorkspaceId {
  if (!isId("ws", text)) throw workspaceNotFound();
  return text;
}

export function stateVersionId(text: string): StateVersionId {
  if (!isId("sv", text)) throw stateVersionNotFound();
  return text;
}

export function outputId(text: string): StateVersionOutputId {
  if (!isId("wsout", text)) throw outputNotFound();
  return text;
}
