import {
  listed,
  type Published,
  type PublishedEvents,
  published,
  selectListed,
} from "@statehouse/events";
import * as events from "@statehouse/proto/statehouse/state/v1/events";
import type { StateEvent } from "../events-domain.ts";
import { differenceFields } from "../state-digest/store.ts";
import { isVisible } from "../workspace-state/store.ts";
import type { StateVersion } from "./domain.ts";

type VersionEvent = Extract<StateEvent, { type: `stateVersion${string}` }>;

type ListedVersion = Pick<
  StateVersion,
  "id" | "workspaceId" | "status" | "intermediate" | "rollbackVersionId"
> & {
  organizationId: string;
  serial: number;
  size: number | null;
};

const endOf: Partial<Record<StateVersion["status"], Published["schema"]>> = {
  discarded: events.StateVersionDiscardedSchema,
  backing_data_soft_deleted: events.StateVersionSoftDeletedSchema,
  backing_data_permanently_deleted: events.StateVersionPermanentlyDeletedSchema,
};

const listedEvents = (version: ListedVersion): Published[] => {
  const { id, workspaceId, organizationId, status, intermediate } = version;
  const ofVersion = { stateVersionId: id, workspaceId, organizationId };
  const serial = BigInt(version.serial);
  const end = endOf[status];
  return [
    published(events.StateVersionCreatedSchema, workspaceId, {
      ...ofVersion,
      serial,
      rollbackStateVersionId: version.rollbackVersionId ?? "",
    }),
    ...(status === "pending" || status === "discarded"
      ? []
      : [
          published(events.StateVersionFinalizedSchema, workspaceId, {
            ...ofVersion,
            serial,
            size: BigInt(version.size ?? 0),
            intermediate,
          }),
        ]),
    ...(end ? [{ schema: end, subject: workspaceId, fields: ofVersion }] : []),
  ];
};

/** The versions as events, for subscribers. */
export const listedStateVersions = listed({
  schemas: [
    events.StateVersionCreatedSchema,
    events.StateVersionFinalizedSchema,
    events.StateVersionDiscardedSchema,
    events.StateVersionSoftDeletedSchema,
    events.StateVersionPermanentlyDeletedSchema,
  ],
  // index: state_versions_pkey, workspace_states_pkey
  select: selectListed({
    from: `state_versions t
      join workspace_states workspace on workspace.workspace_id = t.workspace_id`,
    columns: `t.id, t.workspace_id as "workspaceId", t.status, t.intermediate,
      t.rollback_version_id as "rollbackVersionId", t.serial, t.size,
      workspace.organization_id as "organizationId"`,
    organization: "workspace.organization_id",
    revision: "workspace.revision",
    where: isVisible,
  }),
  events: listedEvents,
});

/**
 * Converts each event of a state version to its message. Messages never contain output values. The subject of each
 * message is the id of the workspace.
 */
export const publishedOfStateVersions = {
  stateVersionCreated: ({ type, rollbackStateVersionId, ...event }) =>
    published(events.StateVersionCreatedSchema, event.workspaceId, {
      ...event,
      rollbackStateVersionId: rollbackStateVersionId ?? "",
    }),
  stateVersionFinalized: ({ type, ...event }) =>
    published(events.StateVersionFinalizedSchema, event.workspaceId, event),
  stateVersionDiscarded: ({ type, ...event }) =>
    published(events.StateVersionDiscardedSchema, event.workspaceId, event),
  stateVersionProcessed: ({ type, comparison, ...event }) =>
    published(events.StateVersionProcessedSchema, event.workspaceId, {
      ...event,
      ...differenceFields(comparison),
    }),
  stateVersionSoftDeleted: ({ type, ...event }) =>
    published(events.StateVersionSoftDeletedSchema, event.workspaceId, event),
  stateVersionRestored: ({ type, ...event }) =>
    published(events.StateVersionRestoredSchema, event.workspaceId, event),
  stateVersionPermanentlyDeleted: ({ type, ...event }) =>
    published(events.StateVersionPermanentlyDeletedSchema, event.workspaceId, event),
  stateVersionsCollected: ({ type, ...event }) =>
    published(events.StateVersionsCollectedSchema, event.workspaceId, event),
} satisfies PublishedEvents<VersionEvent>;
