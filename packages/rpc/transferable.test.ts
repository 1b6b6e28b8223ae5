import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { GrantsSchema } from "@statehouse/proto/statehouse/access/v1/grants";
import { RunReportSchema } from "@statehouse/proto/statehouse/runs/v1/run_report";
import {
  CreateStateVersionRequestSchema,
  StateVersionSchema,
} from "@statehouse/proto/statehouse/state/v1/state_version";
import { WorkspaceSchema } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
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
  const transferable = all.filter(({ message }) => isTransferable(message));
  expect(transferable.length).toBeGreaterThan(200);
  expect(all.length - transferable.length).toBeGreaterThan(200);
  for (const { schema, field, message } of transferable) {
    const encoded = toBinary(schema, message);
    expect(encoded.length).toBeLessThanOrEqual(128 * 1024);
    expect(fromBinary(schema, encoded), String(field)).toEqual(message);
  }
});

test("an ordinary message is transferable", () => {
  const workspace = create(WorkspaceSchema, {
    id: "ws-AAAAAAAAAAAAAAAA",
    name: "Zoë",
    allowedActions: ["workspace:read", "workspace:update"],
    createdAt: { seconds: 1_800_000_000n, nanos: 5 },
    resourceCount: 3,
  });
  expect(isTransferable(workspace)).toBe(true);
});
