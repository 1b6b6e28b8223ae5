import { UserUpdatedSchema } from "@statehouse/proto/statehouse/access/v1/events";
import {
  WorkspaceDeletedSchema,
  WorkspaceLockedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { expect, test } from "vitest";
import { createEmitter } from "./emitter.ts";
import type { Event } from "./event.ts";
import { type EventHandlers, on } from "./subscribe.ts";

/**
 * A subscriber that keeps for each workspace id whether the workspace is locked, and ignores events that are not newer
 * than the last applied revision.
 */
function lockedWorkspaces() {
  const rows = new Map<string, { revision: number; locked: boolean }>();
  const apply = (id: string, { revision }: Event, locked: boolean) => {
    if (revision > (rows.get(id)?.revision ?? 0)) rows.set(id, { revision, locked });
  };
  const handlers: EventHandlers = {
    ...on(WorkspaceLockedSchema, async ({ workspaceId }, event) => apply(workspaceId, event, true)),
    ...on(WorkspaceDeletedSchema, async ({ workspaceId }, event) =>
      apply(workspaceId, event, false),
    ),
  };
  return { handlers, locked: (id: string) => rows.get(id)?.locked ?? false };
}

test("handlers receive events as they would arrive from the bus, in the order of revisions", async () => {
  const events: Event[] = [];
  const emitter = createEmitter(
    on(WorkspaceLockedSchema, async ({ revision }, event) => {
      expect(revision).toBe(BigInt(event.revision));
      events.push(event);
    }),
  );
  const first = await emitter.emit(WorkspaceLockedSchema, {
    ...{ workspaceId: "ws-1", organizationId: "org-1" },
  });
  await emitter.emit(
    WorkspaceLockedSchema,
    { workspaceId: "ws-1" },
    { revision: 7n, auth: { type: "system", id: "operator:Zoë" } },
  );
  await emitter.emit(WorkspaceLockedSchema, { workspaceId: "ws-2" });
  expect(events[0]).toBe(first);
  expect(first).toMatchObject({
    type: "statehouse.workspaces.workspace.locked.v1",
    source: "urn:statehouse:default/workspaces",
    subject: "ws-1",
    organizationId: "org-1",
    auth: { type: "user", id: "user-emitted" },
  });
  expect(events.map(({ revision }) => revision)).toEqual([1, 7, 8]);
  expect(events[1]?.auth).toEqual({ type: "system", id: "operator:Zoë" });
  expect(events[1]?.organizationId).toBeUndefined();
});

test("a handler that applies by revision ignores a repeated and a late event", async () => {
  const { handlers, locked } = lockedWorkspaces();
  const emitter = createEmitter(handlers);
  const event = await emitter.emit(WorkspaceLockedSchema, { workspaceId: "ws-1" });
  expect(locked("ws-1")).toBe(true);
  await emitter.emit(WorkspaceDeletedSchema, { workspaceId: "ws-1" });
  await emitter.deliver(event);
  expect(locked("ws-1")).toBe(false);
});

test("a failure of the handler and a missing handler are thrown", async () => {
  const emitter = createEmitter(
    on(WorkspaceLockedSchema, async () => {
      throw new Error("the table is full");
    }),
  );
  await expect(emitter.emit(WorkspaceLockedSchema, {})).rejects.toThrow("the table is full");
  await expect(emitter.emit(UserUpdatedSchema, {})).rejects.toThrow(
    "There is no handler for statehouse.access.user.updated.v1.",
  );
});
