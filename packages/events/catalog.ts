import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { file_statehouse_access_v1_events } from "@statehouse/proto/statehouse/access/v1/events";
import { file_statehouse_access_v1_mail } from "@statehouse/proto/statehouse/access/v1/mail";
import { file_statehouse_state_v1_events } from "@statehouse/proto/statehouse/state/v1/events";
import { file_statehouse_workspaces_v1_events } from "@statehouse/proto/statehouse/workspaces/v1/events";
import { dataSchemaOf, eventType, headersOf, subjectOf } from "./event.ts";

/** Returns the comment in `proto/` on a message or on one of its fields; empty if there is none. */
export type CommentOf = (message: DescMessage, field?: DescField) => string;

export type JsonObject = Readonly<Record<string, unknown>>;

/** The messages of all events, including the events for the mail sender. */
export const eventMessages: readonly DescMessage[] = [
  file_statehouse_access_v1_events,
  file_statehouse_workspaces_v1_events,
  file_statehouse_state_v1_events,
  file_statehouse_access_v1_mail,
].flatMap(({ messages }) => messages);

const byName = Map.groupBy(eventMessages, ({ name }) => name);

/**
 * Returns the name of a message in the catalog. If messages of several services have the same name, the name begins
 * with the service.
 */
export function nameOf({ name, typeName }: DescMessage): string {
  if ((byName.get(name)?.length ?? 1) === 1) return name;
  const service = typeName.split(".")[1] ?? "";
  return `${service.charAt(0).toUpperCase()}${service.slice(1)}${name}`;
}

const bits64: ReadonlySet<ScalarType> = new Set([ScalarType.UINT64, ScalarType.INT64]);
const bits32: ReadonlySet<ScalarType> = new Set([ScalarType.UINT32, ScalarType.INT32]);

function schemaOfValue({ name, scalar, message }: DescField): JsonObject {
  if (message?.typeName === "google.protobuf.Timestamp") {
    return { type: "string", format: "date-time" };
  }
  if (scalar === ScalarType.BOOL) return { type: "boolean" };
  if (scalar === ScalarType.STRING) return { type: "string" };
  // 64-bit numbers are strings, because JavaScript and many JSON parsers would lose some of their digits.
  if (scalar !== undefined && bits64.has(scalar)) return { type: "string", pattern: "^-?[0-9]+$" };
  if (scalar !== undefined && bits32.has(scalar)) return { type: "integer" };
  if (message) return schemaOfMessage(message, () => "");
  throw new Error(`the catalog cannot describe the field ${name}`);
}

const schemaOfField = (field: DescField): JsonObject =>
  field.fieldKind === "list"
    ? { type: "array", items: schemaOfValue(field) }
    : schemaOfValue(field);

const schemaOfMessage = (message: DescMessage, commentOf: CommentOf): JsonObject => ({
  type: "object",
  properties: Object.fromEntries(
    message.fields.map((field) => {
      const description = commentOf(message, field);
      return [field.jsonName, { ...schemaOfField(field), ...(description && { description }) }];
    }),
  ),
});

/**
 * Returns the JSON Schema of an event's payload. Only the revision and the first field, which is the id, are always
 * present, because values that are empty, zero or false are omitted. Other fields can be added at any time.
 */
export function payloadSchema(message: DescMessage, commentOf: CommentOf = () => ""): JsonObject {
  const [id] = message.fields;
  const description = commentOf(message);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: dataSchemaOf(eventType(message)),
    title: message.name,
    ...(description && { description }),
    ...schemaOfMessage(message, commentOf),
    required: [...new Set([id?.jsonName, "revision"])].filter((name) => name !== undefined),
  };
}

const text = (pattern: string, description: string) => ({ type: "string", pattern, description });

/** The JSON Schema of the headers of every event. */
export const headersSchema: JsonObject = {
  type: "object",
  properties: {
    "ce-specversion": { const: "1.0" },
    "ce-id": text("^[!-~]+$", "unique; a repeated delivery has the same id"),
    "ce-source": text("^[a-zA-Z][a-zA-Z0-9+.-]*:[!-~]+$", "the installation and the service"),
    "ce-type": text("^statehouse(-mail)?\\.[a-z]+\\.[a-z-]+\\.[a-z-]+\\.v[0-9]+$", "the type"),
    "ce-subject": text("^[!-~]+$", "the id of the changed object"),
    "ce-time": text("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$", "when the change was recorded"),
    "ce-datacontenttype": { const: "application/json" },
    "ce-dataschema": text("^urn:statehouse:event-schema:", "the $id of the payload's schema"),
    "ce-sequence": text("^[0-9]{20}$", "grows with each change of the object"),
    "ce-authtype": {
      enum: ["user", "api_key", "service_account", "system"],
      description: "the kind of principal that made the change",
    },
    "ce-authid": text("^[!-~]+$", "the id of that principal"),
    "ce-traceparent": text("^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$", "the trace"),
  },
  required: [
    ...["ce-specversion", "ce-id", "ce-source", "ce-type", "ce-subject", "ce-time"],
    ...["ce-datacontenttype", "ce-dataschema", "ce-sequence", "ce-authtype", "ce-authid"],
  ],
};

/** The ids in samples, by the name of the field that contains them. */
const sampleIds: Readonly<Record<string, string>> = {
  organizationId: "org-x2mEp4Tz8QkD7vWn",
  workspaceId: "ws-h5JcR9sLq2BfY6Kt",
  projectId: "prj-n8VdZ3wMx7GpA1Ue",
  userId: "user-t4HgS6yCb9NjF2Qr",
  creatorUserId: "user-t4HgS6yCb9NjF2Qr",
  holderId: "user-t4HgS6yCb9NjF2Qr",
  ownerId: "user-t4HgS6yCb9NjF2Qr",
  teamId: "team-k7PxD2vRm5WzE8Lb",
  teamProjectId: "tprj-c3TfY9nQs6HuJ4Xa",
  teamWorkspaceId: "tws-g6BkM1zVw8RdN5Pe",
  tokenId: "at-q9LsC4hXj7FtU2Gv",
  runTokenId: "at-q9LsC4hXj7FtU2Gv",
  runId: "run-w5ZnK8bTe3MyR6Dh",
  stateVersionId: "sv-f2QpV7mGx4JcS9Lu",
  currentStateVersionId: "sv-f2QpV7mGx4JcS9Lu",
  comparedStateVersionId: "sv-d8RbN3kWy6HtZ1Fq",
  rollbackStateVersionId: "sv-d8RbN3kWy6HtZ1Fq",
  agentPoolId: "apool-m4XeT9vCj2LsP7Ga",
  sshKeyId: "sshkey-z6HwB3nRd8QkY5Uf",
  tagId: "tag-j9MgF4tVx2CpS7Le",
  reservedTagKeyId: "rtk-u3KzN8hWb5DqR1Jy",
  dataRetentionPolicyId: "drp-e7TsG2mXc9VfL4Ph",
  organizationMembershipId: "ou-b5YnJ8wQk3HdZ6Tr",
};

const sampleTexts: Readonly<Record<string, string>> = {
  name: "network",
  username: "alice",
  key: "environment",
  access: "read",
  reason: "maintenance",
  holderType: "user",
  ownerType: "user",
  runner: "runner",
  status: "applied",
  kind: "delete-older",
  tokenType: "user",
  lineage: "5f0c0d1e-7c1b-4a53-9d55-2f5c5c5d8a10",
  incomparable: "",
  organization: "org-x2mEp4Tz8QkD7vWn",
  service: "state",
  sealedAt: "2026-01-02T03:04:05.678Z",
  hash: "6f1ed002ab5595859014ebf0951522d9a1f7e0b5f5b1c1a2d3e4f5a6b7c8d9e0",
  keyId: "1c9f2d3e-4b5a-4c6d-8e7f-0a1b2c3d4e5f",
  signature: "bGl0dGxlIHNhbXBsZSBvZiBhIHNpZ25hdHVyZQ==",
};

const lists: Readonly<Record<string, unknown>> = {
  changedAttributes: ["auto-apply", "description"],
  stateVersionIds: ["sv-f2QpV7mGx4JcS9Lu"],
};

function sampleOfField(field: DescField): unknown {
  // Samples contain no value for a secret, not even an invented one.
  if (field.proto.options?.debugRedact) return "(secret)";
  const { jsonName, message, scalar } = field;
  if (message?.typeName === "google.protobuf.Timestamp") return "2026-01-02T03:04:05.678Z";
  if (field.fieldKind === "list") {
    if (jsonName in lists) return lists[jsonName];
    return field.message ? [sampleOf(field.message)] : [];
  }
  if (message) return sampleOf(message);
  if (scalar === ScalarType.BOOL) return true;
  if (jsonName === "revision") return "1767323045678000";
  if (scalar !== undefined && bits64.has(scalar)) return "7";
  if (scalar !== undefined && bits32.has(scalar)) return 7;
  const value = sampleIds[jsonName] ?? sampleTexts[jsonName];
  if (value === undefined) throw new Error(`the catalog has no sample of ${jsonName}`);
  return value;
}

/** Returns a sample of a message in JSON. */
export const sampleOf = (message: DescMessage): JsonObject =>
  Object.fromEntries(message.fields.map((field) => [field.jsonName, sampleOfField(field)]));

/** Returns the sample of an event: its subject, headers and payload. */
export function sampleEvent(message: DescMessage): {
  subject: string;
  headers: JsonObject;
  payload: JsonObject;
} {
  const payload = sampleOf(message);
  const [id] = message.fields;
  const idValue = id ? payload[id.jsonName] : "";
  const type = eventType(message);
  const inside = typeof payload.organizationId === "string" ? payload.organizationId : undefined;
  const service = type.split(".")[1] ?? "";
  const headers = headersOf({
    id: "0b9c3c1e-4e0f-4c0a-8f6e-5d1f7c9a2b34",
    type,
    organizationId: inside,
    source: `urn:statehouse:default/${service}`,
    subject: type.startsWith("statehouse-mail.") ? "user-t4HgS6yCb9NjF2Qr" : String(idValue),
    revision: 1_767_323_045_678_000,
    time: new Date("2026-01-02T03:04:05.678Z"),
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
    auth: { type: "user", id: "user-t4HgS6yCb9NjF2Qr" },
    json: "",
  });
  return {
    subject: subjectOf({ type, organizationId: inside }),
    headers: Object.fromEntries(headers.keys().map((name) => [name, headers.get(name)])),
    payload,
  };
}

/** Returns the AsyncAPI 3 document of everything that Statehouse publishes. */
export function asyncApi(version: string, commentOf: CommentOf): JsonObject {
  const entries = eventMessages.map((message) => {
    const type = eventType(message);
    const name = nameOf(message);
    const { headers, payload } = sampleEvent(message);
    const { $schema: _, ...schema } = payloadSchema(message, commentOf);
    const ref = (of: string, key: string) => ({ $ref: `#/${of}/${key}` });
    return {
      channel: {
        address: `${type}.{organization}`,
        parameters: { organization: ref("components/parameters", "organization") },
        messages: { event: ref("components/messages", name) },
      },
      operation: {
        action: "send",
        channel: ref("channels", name),
        messages: [ref(`channels/${name}/messages`, "event")],
      },
      message: {
        name: type,
        title: name,
        summary: commentOf(message) || undefined,
        contentType: "application/json",
        headers: ref("components/schemas", "Headers"),
        payload: ref("components/schemas", name),
        examples: [{ name: "sample", headers, payload }],
      },
      schema,
      name,
    };
  });
  const entriesBy = (part: "channel" | "operation" | "message" | "schema") =>
    Object.fromEntries(entries.map((entry) => [entry.name, entry[part]]));
  return {
    asyncapi: "3.0.0",
    id: "urn:statehouse:events",
    info: {
      title: "Statehouse events",
      version,
      description:
        "Every change that Statehouse publishes to NATS JetStream, as CloudEvents 1.0 in binary mode. See docs/events.md.",
      license: { name: "Apache-2.0" },
    },
    defaultContentType: "application/json",
    channels: entriesBy("channel"),
    operations: entriesBy("operation"),
    components: {
      parameters: {
        organization: {
          description: "The immutable id of the organization (external-id), or _ for none.",
          examples: [sampleIds.organizationId, "_"],
        },
      },
      messages: entriesBy("message"),
      schemas: { Headers: headersSchema, ...entriesBy("schema") },
    },
  };
}
