import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { recordEvent } from "@statehouse/events";
import type { EntityManager } from "@statehouse/postgres";
import {
  StateVersionCreatedSchema,
  StateVersionDiscardedSchema,
  StateVersionFinalizedSchema,
  StateVersionPermanentlyDeletedSchema,
  StateVersionProcessedSchema,
  StateVersionRestoredSchema,
  StateVersionSoftDeletedSchema,
  StateVersionsCollectedSchema,
  WorkspaceStateChangedSchema,
} from "@statehouse/proto/statehouse/state/v1/events";
import type { StateEvent } from "../domain/events.ts";

/** Adds the event to the outbox. Its subject is the workspace. */
export function recordStateEvent(em: EntityManager, event: StateEvent): Promise<void> {
  const { workspaceId: subject, revision } = event;
  const record = <S extends DescMessage>(schema: S, message: MessageInitShape<S>) =>
    recordEvent(em, { schema, message: create(schema, message), subject, revision });

  switch (event.type) {
    case "stateVersionCreated": {
      const { type, rollbackStateVersionId, ...message } = event;
      return record(StateVersionCreatedSchema, {
        ...message,
        rollbackStateVersionId: rollbackStateVersionId ?? "",
      });
    }
    case "stateVersionFinalized": {
      const { type, ...message } = event;
      return record(StateVersionFinalizedSchema, message);
    }
    case "stateVersionDiscarded": {
      const { type, ...message } = event;
      return record(StateVersionDiscardedSchema, message);
    }
    case "stateVersionsCollected": {
      const { type, ...message } = event;
      return record(StateVersionsCollectedSchema, message);
    }
    case "stateVersionProcessed": {
      const { type, ...message } = event;
      return record(StateVersionProcessedSchema, message);
    }
    case "stateVersionSoftDeleted": {
      const { type, ...message } = event;
      return record(StateVersionSoftDeletedSchema, message);
    }
    case "stateVersionRestored": {
      const { type, ...message } = event;
      return record(StateVersionRestoredSchema, message);
    }
    case "stateVersionPermanentlyDeleted": {
      const { type, ...message } = event;
      return record(StateVersionPermanentlyDeletedSchema, message);
    }
    case "workspaceStateChanged": {
      const { type, currentVersionId, latestChangeAt, ...message } = event;
      return record(WorkspaceStateChangedSchema, {
        ...message,
        currentStateVersionId: currentVersionId ?? "",
        ...(latestChangeAt ? { latestChangeAt: timestampFromDate(latestChangeAt) } : {}),
      });
    }
  }
}
