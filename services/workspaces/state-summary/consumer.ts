import { hint, projection } from "@statehouse/events";
import { parseId } from "@statehouse/postgres/ids";
import { WorkspaceStateChangedSchema } from "@statehouse/proto/statehouse/state/v1/events";
import type { App } from "../app.ts";
import { refreshSummaries } from "./app.ts";

/** Updates a workspace's state summary when the state service publishes that the state has changed. */
export const workspaceStateProjection = (app: App) =>
  projection({
    hints: hint(WorkspaceStateChangedSchema, ({ workspaceId }) => parseId("ws", workspaceId)),
    refresh: (ids) => refreshSummaries(app, ids),
  });
