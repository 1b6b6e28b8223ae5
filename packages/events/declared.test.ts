import { file_statehouse_access_v1_events as access } from "@statehouse/proto/statehouse/access/v1/events";
import { file_statehouse_state_v1_events as state } from "@statehouse/proto/statehouse/state/v1/events";
import { file_statehouse_workspaces_v1_events as workspaces } from "@statehouse/proto/statehouse/workspaces/v1/events";
import { expect, test } from "vitest";
import { eventType } from "./event.ts";

const schemas = [access, state, workspaces].flatMap(({ messages }) => messages);

test("every event names its organization, except those of users, who belong to the installation", () => {
  const without = schemas.filter(({ field }) => !("organizationId" in field)).map(eventType);
  expect(without).toEqual([
    "statehouse.access.user.created.v1",
    "statehouse.access.user.updated.v1",
    "statehouse.access.user.deleted.v1",
  ]);
});

test("every type has the form that subjects and permissions rely on", () => {
  for (const type of schemas.map(eventType)) {
    expect(type).toMatch(/^statehouse\.(access|state|workspaces)\.[a-z-]+\.[a-z-]+\.v1$/);
  }
});
