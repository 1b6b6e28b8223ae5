import { type EventHandlers, on } from "@statehouse/events";
import { WorkspaceStateChangedSchema } from "@statehouse/proto/statehouse/state/v1/events";
import type { App } from "../app/app.ts";
import { applySummary } from "../app/state-summary.ts";
import { summaryFromProto } from "../clients/state.ts";
import { workspaceId } from "../rpc/ids.ts";

/** Keeps each workspace's state summary up to date with state. */
export const workspaceStateHandlers = (app: App): EventHandlers =>
  on(WorkspaceStateChangedSchema, (message) =>
    applySummary(app, workspaceId(message.workspaceId), summaryFromProto(message)),
  );
