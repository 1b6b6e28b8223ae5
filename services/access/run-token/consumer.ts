import { hint, type Projection, projection } from "@statehouse/events";
import { parseId } from "@statehouse/postgres/ids";
import {
  RunEndedSchema,
  WorkspaceDeletedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app.ts";
import { endEndedRuns, endRunsOfDeletedWorkspaces } from "./app.ts";

/** Revokes the tokens of runs that have ended or whose workspace was deleted. */
export const runProjections = (app: App): Projection[] => [
  projection({
    hints: hint(RunEndedSchema, ({ runId }) => parseId("run", runId)),
    refresh: (ids) => endEndedRuns(app, ids),
  }),
  projection({
    hints: hint(WorkspaceDeletedSchema, ({ workspaceId }) => parseId("ws", workspaceId)),
    refresh: (ids) => endRunsOfDeletedWorkspaces(app, ids),
  }),
];
