import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createRecorder, type PublishedEvents, published } from "@statehouse/events";
import * as events from "@statehouse/proto/statehouse/state/v1/events";
import type { StateEvent } from "../domain/events.ts";

/** What is published of each event; never output values. The subject is the workspace. */
const publishedEvents: PublishedEvents<StateEvent> = {
  stateVersionCreated: ({ type, rollbackStateVersionId, ...event }) =>
    published(events.StateVersionCreatedSchema, event.workspaceId, {
      ...event,
      rollbackStateVersionId: rollbackStateVersionId ?? "",
    }),
  stateVersionFinalized: ({ type, ...event }) =>
    published(events.StateVersionFinalizedSchema, event.workspaceId, event),
  stateVersionDiscarded: ({ type, ...event }) =>
    published(events.StateVersionDiscardedSchema, event.workspaceId, event),
  stateVersionProcessed: ({ type, ...event }) =>
    published(events.StateVersionProcessedSchema, event.workspaceId, event),
  stateVersionSoftDeleted: ({ type, ...event }) =>
    published(events.StateVersionSoftDeletedSchema, event.workspaceId, event),
  stateVersionRestored: ({ type, ...event }) =>
    published(events.StateVersionRestoredSchema, event.workspaceId, event),
  stateVersionPermanentlyDeleted: ({ type, ...event }) =>
    published(events.StateVersionPermanentlyDeletedSchema, event.workspaceId, event),
  stateVersionsCollected: ({ type, ...event }) =>
    published(events.StateVersionsCollectedSchema, event.workspaceId, event),
  workspaceStateChanged: ({ type, currentVersionId, latestChangeAt, ...event }) =>
    published(events.WorkspaceStateChangedSchema, event.workspaceId, {
      ...event,
      currentStateVersionId: currentVersionId ?? "",
      ...(latestChangeAt ? { latestChangeAt: timestampFromDate(latestChangeAt) } : {}),
    }),
};

/** Adds an event to the outbox, in the transaction of `em`. */
export const record = createRecorder(publishedEvents);
