import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { GrantsSchema } from "@statehouse/proto/statehouse/access/v1/grants";
import { TeamSettingsSchema } from "@statehouse/proto/statehouse/access/v1/team";
import { RunReportSchema } from "@statehouse/proto/statehouse/runs/v1/run_report";
import {
  CreateStateVersionRequestSchema,
  StateVersionSchema,
} from "@statehouse/proto/statehouse/state/v1/state_version";
import {
  ListWorkspacesResponseSchema,
  WorkspaceSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { expect, test } from "vitest";
import { isTransferable } from "./transferable.ts";

const texts = ["", "x", "Zoë 🦊", "\u0000", "\ud800", "a\udc00b", "x".repeat(50_000)];
const numbers = [0, 1, -0, -1, 1.5, 2 ** 31 - 1, 2 ** 31, 2 ** 32, Number.NaN, Infinity];
const large = [0n, 1n, -1n, 2n ** 63n - 1n, 2n ** 63n];
const bytes = [new Uint8Array([1, 2])];
const json = [...texts, ...numbers, true, null, undefined];

const of64Bits: readonly ScalarType[] = [
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
  ScalarType.SINT64,
];

function scalars(type: ScalarType | undefined): readonly unknown[] {
  if (type === ScalarType.STRING) return texts;
  if (type === ScalarType.BOOL) return [true, false];
  if (type === ScalarType.BYTES) return bytes;
  return type !== undefined && of64Bits.includes(type) ? large : numbers;
}

const schemas: readonly DescMessage[] = [
  GrantsSchema,
  RunReportSchema,
  CreateStateVersionRequestSchema,
  StateVersionSchema,
  WorkspaceSchema,
];

/** Returns the test values of a field: each possible value alone, or in a list or map if the field is one. */
function valuesOf(field: DescField, depth = 0): readonly unknown[] {
  const { message, scalar } = field;
  const single = message ? messagesOf(message, depth + 1) : scalars(scalar);
  if (field.fieldKind === "list") return single.map((item) => [item]);
  if (field.fieldKind === "map") return single.map((member) => ({ key: member, "\ud800": member }));
  return single;
}

function messagesOf(schema: DescMessage, depth: number): readonly unknown[] {
  if (schema.typeName === "google.protobuf.Struct") {
    return json.map((value) => ({ key: value, list: [{ value }] }));
  }
  return depth > 2 ? [] : schema.fields.flatMap((field) => initsOf(field, depth));
}

/** Returns the initial values of messages in which one field is set. */
const initsOf = (field: DescField, depth = 0): Record<string, unknown>[] =>
  valuesOf(field, depth).map((value) =>
    field.oneof
      ? { [field.oneof.localName]: { case: field.localName, value } }
      : { [field.localName]: value },
  );

test("a transferable message is equal after it was encoded and decoded, whatever its fields contain", () => {
  const all = schemas.flatMap((schema) =>
    schema.fields.flatMap((field) =>
      initsOf(field).map((init) => ({ schema, field, message: create(schema, init) })),
    ),
  );
  const transferable = all.filter(({ schema, message }) => isTransferable(schema, message));
  expect(transferable.length).toBeGreaterThan(200);
  expect(all.length - transferable.length).toBeGreaterThan(200);
  for (const { schema, field, message } of transferable) {
    const encoded = toBinary(schema, message);
    expect(encoded.length).toBeLessThanOrEqual(128 * 1024);
    expect(fromBinary(schema, encoded), String(field)).toEqual(message);
  }
});

const moment = { seconds: 1_800_000_000n, nanos: 5 };
const workspace = create(WorkspaceSchema, {
  id: "ws-AAAAAAAAAAAAAAAA",
  name: "Zoë",
  description: "The network of the shop",
  allowedActions: Array.from({ length: 15 }, (_, index) => `workspace:action-${index}`),
  tagNames: ["network", "shop", "production"],
  organizationId: "org-AAAAAAAAAAAAAAAA",
  organizationName: "shop",
  projectId: "prj-AAAAAAAAAAAAAAAA",
  executionMode: "remote",
  engineVersion: "1.11.4",
  createdAt: moment,
  updatedAt: moment,
  latestChangeAt: moment,
  resourceCount: 3,
});

test("a name that the encoding changes is found, also beside the name of a type", () => {
  for (const more of [{}, { $typeName: "x" }]) {
    const settings = create(TeamSettingsSchema, {
      organizationAccess: { ...more, "\ud800": true },
    });
    expect(isTransferable(TeamSettingsSchema, settings)).toBe(false);
  }
});

test("an ordinary message is transferable", () => {
  expect(isTransferable(WorkspaceSchema, workspace)).toBe(true);
});

test("an ordinary page of a list is transferable", () => {
  const page = create(ListWorkspacesResponseSchema, {
    workspaces: Array.from({ length: 20 }, () => workspace),
  });
  expect(isTransferable(ListWorkspacesResponseSchema, page)).toBe(true);
});

test("a message above the limit is not transferable, whichever fields are large", () => {
  const many = <Value>(value: Value) => Array.from({ length: 40_000 }, () => value);
  const entries = (count: number) => Array.from({ length: count }, (_, key) => [String(key), 1]);
  const messages: [DescMessage, Record<string, unknown>][] = [
    [WorkspaceSchema, { description: "x".repeat(130 * 1024) }],
    [WorkspaceSchema, { tagNames: many("ab") }],
    [ListWorkspacesResponseSchema, { workspaces: many({ id: "a" }) }],
    [TeamSettingsSchema, { organizationAccess: Object.fromEntries(entries(10_000)) }],
    [TeamSettingsSchema, { organizationAccess: { list: many(0) } }],
    [TeamSettingsSchema, { organizationAccess: { $typeName: "x", ["k".repeat(140_000)]: true } }],
    [RunReportSchema, { statusTimestamps: Object.fromEntries(many(0).map((_, at) => [at, {}])) }],
  ];
  for (const [schema, init] of messages) {
    const message = create(schema, init);
    expect(toBinary(schema, message).length).toBeGreaterThan(128 * 1024);
    expect(isTransferable(schema, message)).toBe(false);
  }
});
