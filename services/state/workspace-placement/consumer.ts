import { hint, projection } from "@statehouse/events";
import { parseId } from "@statehouse/postgres/ids";
import {
  WorkspaceDeletedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app.ts";
import { refreshWorkspaces } from "./app.ts";

const idOf = ({ workspaceId }: { workspaceId: string }) => parseId("ws", workspaceId);

/**
 * Applies moves and deletions even if the call that announces them was lost: the workspaces service can crash between
 * its commit and that call.
 */
export const workspaceProjection = (app: App) =>
  projection({
    hints: { ...hint(WorkspaceDeletedSchema, idOf), ...hint(WorkspaceUpdatedSchema, idOf) },
    refresh: (ids) => refreshWorkspaces(app, ids),
  });
