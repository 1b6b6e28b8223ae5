import { eventType } from "@statehouse/events";
import { eventMessages } from "@statehouse/events/catalog";
import { expect, test } from "vitest";
import { recordOfEvent } from "./event-record.ts";

const facts = { subject: "id", organizationId: "org-1", changedAttributes: [] };

test("every event has an action, except those for the mail sender", () => {
  const types = eventMessages.map(eventType);
  expect(types.length).toBeGreaterThan(50);
  expect(types.filter((type) => !recordOfEvent({ ...facts, type }))).toEqual([
    "statehouse-mail.access.invitation.created.v1",
  ]);
});

test("an action is noun and verb of its event", () => {
  const type = "statehouse.workspaces.workspace.locked.v1";
  expect(recordOfEvent({ ...facts, type, changedAttributes: ["locked"] })).toEqual({
    organization: "org-1",
    action: "workspace.lock",
    resource: { type: "workspace", id: "id" },
    changedAttributes: ["locked"],
  });
  expect(() => recordOfEvent({ ...facts, type: "statehouse.x.noun.unheard.v1" })).toThrow();
});
