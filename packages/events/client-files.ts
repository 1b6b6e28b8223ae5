import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { type CommentOf, eventMessages, nameOf, sampleEvent } from "./catalog.ts";
import { eventType } from "./event.ts";

// Generates the types of events and their samples for the packages of other languages, `clients/`. The payload of an
// event is JSON, so that these packages need neither protobuf nor its compiler.

/** The types of a field in each language. */
interface FieldType {
  go: string;
  python: string;
  /** Whether the field is a number that JSON contains as a string. */
  isText: boolean;
}

const scalars: ReadonlyMap<ScalarType, FieldType> = new Map([
  [ScalarType.STRING, { go: "string", python: "str", isText: false }],
  [ScalarType.BOOL, { go: "bool", python: "bool", isText: false }],
  [ScalarType.INT32, { go: "int32", python: "int", isText: false }],
  [ScalarType.UINT32, { go: "uint32", python: "int", isText: false }],
  [ScalarType.INT64, { go: "int64", python: "int", isText: true }],
  [ScalarType.UINT64, { go: "uint64", python: "int", isText: true }],
]);

function typeOf({ name, scalar, message }: DescField): FieldType {
  if (message?.typeName === "google.protobuf.Timestamp") {
    return { go: "time.Time", python: "datetime", isText: false };
  }
  if (message) return { go: nameOf(message), python: nameOf(message), isText: false };
  const type = scalar === undefined ? undefined : scalars.get(scalar);
  if (!type) throw new Error(`the packages of other languages cannot describe the field ${name}`);
  return type;
}

/** The message of an event, or a message that a field of an event contains. */
interface Described {
  message: DescMessage;
  /** The event type; undefined for a message that is only a part of events. */
  type: string | undefined;
}

/** The messages of all events, each after the messages that its fields contain. */
const described: readonly Described[] = [
  ...new Map(
    eventMessages.flatMap((message) => [
      ...message.fields.flatMap(({ message: part }): [string, Described][] =>
        part && !part.typeName.startsWith("google.")
          ? [[part.typeName, { message: part, type: undefined }]]
          : [],
      ),
      [message.typeName, { message, type: eventType(message) }] satisfies [string, Described],
    ]),
  ).values(),
];

const initialisms: ReadonlySet<string> = new Set(["id", "ids", "ssh", "ttl", "url"]);

/** Returns the name of a field in Go: `state_version_ids` is `StateVersionIDs`. */
const goName = (name: string): string =>
  name
    .split("_")
    .map((word) =>
      initialisms.has(word)
        ? word.replace(/^[a-z]+?(?=s?$)/, (letters) => letters.toUpperCase())
        : `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
    )
    .join("");

const isOptional = ({ presence }: DescField): boolean =>
  presence === FeatureSet_FieldPresence.EXPLICIT;

function goFieldsOf(message: DescMessage, commentOf: CommentOf): string[] {
  const rows = message.fields.map((field) => {
    const { go, isText } = typeOf(field);
    const isList = field.fieldKind === "list";
    // A time has no pointer type, because Go's zero time stands for an absent time.
    const type = isList ? `[]${go}` : isOptional(field) && go !== "time.Time" ? `*${go}` : go;
    const options = `${go === "time.Time" && !isList ? "omitzero" : "omitempty"}${isText ? ",string" : ""}`;
    const tag = `\`json:"${field.jsonName},${options}"\``;
    return [goName(field.name), type, tag, commentOf(message, field)] as const;
  });
  // The fields are aligned as gofmt aligns them: the fields from one comment to the next form a table.
  const lines: string[] = [];
  while (rows.length > 0) {
    const end = rows.findIndex(([, , , comment], index) => index > 0 && comment !== "");
    const table = rows.splice(0, end < 0 ? rows.length : end);
    const width = (column: 0 | 1) => Math.max(...table.map((row) => row[column].length));
    for (const [name, type, tag, comment] of table) {
      if (comment) lines.push(`\t// ${comment}`);
      lines.push(`\t${name.padEnd(width(0))} ${type.padEnd(width(1))} ${tag}`);
    }
  }
  return lines;
}

/** Returns the messages as Go structs. */
export function goMessages(commentOf: CommentOf): string {
  const lines = [
    "// Code generated from proto/ by npm run catalog:renew. DO NOT EDIT.",
    "",
    "package events",
    "",
    'import "time"',
  ];
  for (const { message, type } of described) {
    const name = nameOf(message);
    const comment = commentOf(message) || `${name} is a part of an event.`;
    lines.push(
      "",
      `// ${name}: ${comment}`,
      `type ${name} struct {`,
      ...goFieldsOf(message, commentOf),
      "}",
    );
    if (type === undefined) continue;
    lines.push("", "// EventType returns the type of the event.");
    lines.push(`func (${name}) EventType() string {`, `\treturn "${type}"`, "}");
  }
  return `${lines.join("\n")}\n`;
}

function pythonField(field: DescField): string {
  const { python, isText } = typeOf(field);
  if (field.fieldKind === "list") return `${field.name}: tuple[${python}, ...] = ()`;
  if (isOptional(field)) return `${field.name}: ${python} | None = None`;
  if (isText) return `${field.name}: ${python} = int64()`;
  const empty = { str: '""', bool: "False", int: "0" }[python];
  return `${field.name}: ${python} = ${empty}`;
}

/** Returns the messages as Python data classes. */
export function pythonMessages(commentOf: CommentOf): string {
  const lines = [
    '"""The messages of all events."""',
    "",
    "# Generated from proto/ by npm run catalog:renew.",
    "",
    "from dataclasses import dataclass",
    "from datetime import datetime",
    "from typing import ClassVar",
    "",
    "from .message import Message, int64",
  ];
  const names = described.map(({ message }) => `    "${nameOf(message)}",`);
  lines.push("", "__all__ = [", ...names.toSorted(), "]");
  for (const { message, type } of described) {
    const comment = commentOf(message) || "A part of an event.";
    lines.push(
      "",
      "",
      "@dataclass(frozen=True, kw_only=True)",
      `class ${nameOf(message)}(Message):`,
    );
    lines.push(`    """${comment}"""`, "");
    if (type !== undefined) lines.push(`    TYPE: ClassVar[str] = "${type}"`);
    for (const field of message.fields) {
      const about = commentOf(message, field);
      lines.push(...(about ? [`    # ${about}`] : []), `    ${pythonField(field)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Returns the samples of all events by their type. */
export const samples = (): string =>
  `${JSON.stringify(
    Object.fromEntries(eventMessages.map((message) => [eventType(message), sampleEvent(message)])),
    undefined,
    1,
  )}\n`;
