import { create, toJsonString } from "@bufbuild/protobuf";
import { ErrorDetailSchema } from "@statehouse/proto/statehouse/rpc/v1/error";
import { WorkspaceCreatedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";
import { expect, test } from "vitest";
import {
  decode,
  type Event,
  eventFrom,
  eventType,
  headersOf,
  organizationIn,
  reaches,
  subjectOf,
} from "./event.ts";

const event: Event = {
  id: "7d6b",
  type: "statehouse.workspaces.workspace.created.v1",
  organizationId: "org-1",
  source: "urn:statehouse:default/workspaces",
  subject: "ws-1",
  revision: 7,
  time: new Date("2026-01-02T03:04:05.678Z"),
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  auth: { type: "user", id: "user-1" },
  json: toJsonString(WorkspaceCreatedSchema, create(WorkspaceCreatedSchema, { name: "prod" })),
};

const message = {
  headers: headersOf(event),
  subject: subjectOf(event),
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

test("the subject is the type and the organization, or _ for the installation", () => {
  expect(message.subject).toBe("statehouse.workspaces.workspace.created.v1.org-1");
  const ofInstallation = { ...event, organizationId: undefined };
  const subject = subjectOf(ofInstallation);
  expect(subject).toBe("statehouse.workspaces.workspace.created.v1._");
  expect(eventFrom({ ...message, headers: headersOf(ofInstallation), subject })).toEqual(
    ofInstallation,
  );
});

test("a subject of another form is the type, without an organization", () => {
  expect(eventFrom({ ...message, headers: undefined, subject: event.type })).toMatchObject({
    type: event.type,
    organizationId: undefined,
  });
});

test("the organization is the one that the message names, if it can be part of a subject", () => {
  expect(organizationIn('{"organizationId":"org-1","name":"x"}')).toBe("org-1");
  for (const other of ["", "a.b", "*", ">", "a b", 7]) {
    expect(organizationIn(JSON.stringify({ organizationId: other }))).toBeUndefined();
  }
  expect(organizationIn("{}")).toBeUndefined();
});

test("a filter reaches the types of which some subject matches it", () => {
  const { type } = event;
  for (const filter of [
    "statehouse.>",
    "statehouse.workspaces.>",
    "statehouse.workspaces.*.created.>",
    `${type}.*`,
    `${type}.>`,
    `${type}.org-1`,
    "statehouse.*.*.*.*.org-1",
  ]) {
    expect(reaches(filter, type), filter).toBe(true);
  }
  for (const filter of [
    type,
    "statehouse.state.>",
    "statehouse.workspaces.*.deleted.>",
    "statehouse.workspaces.workspace.create.>",
    `${type}.org-1.more`,
    `${type}.org-1.>`,
    "statehouse.*",
  ]) {
    expect(reaches(filter, type), filter).toBe(false);
  }
});

test("the headers are those of the binary mode of CloudEvents 1.0", () => {
  const sent = headersOf(event);
  expect(Object.fromEntries(sent.keys().map((name) => [name, sent.get(name)]))).toEqual({
    "ce-specversion": "1.0",
    "ce-id": "7d6b",
    "ce-source": "urn:statehouse:default/workspaces",
    "ce-type": "statehouse.workspaces.workspace.created.v1",
    "ce-subject": "ws-1",
    "ce-time": "2026-01-02T03:04:05.678Z",
    "ce-datacontenttype": "application/json",
    "ce-dataschema": "urn:statehouse:event-schema:statehouse.workspaces.workspace.created.v1",
    "ce-sequence": "00000000000000000007",
    "ce-authtype": "user",
    "ce-authid": "user-1",
    "ce-traceparent": event.traceparent,
  });
});

test("sequences are ordered as text", () => {
  const sequences = [9, 10, 1.7e15].map((revision) =>
    headersOf({ ...event, revision }).get("ce-sequence"),
  );
  expect(sequences).toEqual(sequences.toSorted());
});

test("header values are percent-encoded as the binding says", () => {
  const id = 'operator:Euro € 😀 "100%"';
  const sent = headersOf({ ...event, auth: { type: "system", id } });
  expect(sent.get("ce-authid")).toBe("operator:Euro%20%E2%82%AC%20%F0%9F%98%80%20%22100%25%22");
  expect(eventFrom({ ...message, headers: sent }).auth?.id).toBe(id);
  for (const [value, read] of [
    ['"a \\"b\\""', 'a "b"'],
    ["%C0%A0", "%C0%A0"],
    ["%41", "A"],
  ] as const) {
    sent.set("ce-authid", value);
    expect(eventFrom({ ...message, headers: sent }).auth?.id).toBe(read);
  }
});
