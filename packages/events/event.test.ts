import { create, toJsonString } from "@bufbuild/protobuf";
import { ErrorDetailSchema } from "@statehouse/proto/statehouse/rpc/v1/error";
import { WorkspaceCreatedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";
import { expect, test } from "vitest";
import { decode, type Event, eventFrom, eventType, headersOf } from "./event.ts";

const event: Event = {
  id: "7d6b",
  type: "statehouse.workspaces.workspace.created.v1",
  source: "statehouse/workspaces",
  subject: "ws-1",
  revision: 7,
  time: new Date("2026-01-02T03:04:05.678Z"),
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  json: toJsonString(WorkspaceCreatedSchema, create(WorkspaceCreatedSchema, { name: "prod" })),
};

const message = {
  headers: headersOf(event),
  subject: event.type,
  string: () => event.json,
  time: new Date(0),
};

test("an event read from its headers equals the original event", () => {
  expect(eventFrom(message)).toEqual(event);
});

test("a message of a foreign publisher without headers has a type and a time", () => {
  expect(eventFrom({ ...message, headers: undefined })).toMatchObject({
    type: event.type,
    time: new Date(0),
    traceparent: undefined,
  });
});

test("the event type is the type that the message declares", () => {
  expect(eventType(WorkspaceCreatedSchema)).toBe("statehouse.workspaces.workspace.created.v1");
  expect(() => eventType(ErrorDetailSchema)).toThrow("does not declare its event type");
});

test("fields of a later release are ignored", () => {
  const later = { json: '{"name":"prod","colour":"red"}' };
  expect(decode(later, WorkspaceCreatedSchema).name).toBe("prod");
});
