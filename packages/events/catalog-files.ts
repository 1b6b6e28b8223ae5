import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fromBinary } from "@bufbuild/protobuf";
import { type DescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { asyncApi, type CommentOf, eventMessages, payloadSchema, sampleEvent } from "./catalog.ts";
import { goMessages, pythonMessages, samples } from "./client-files.ts";
import { eventType } from "./event.ts";

// Writes the catalog of events from proto/ to docs/events, and the types of events to the packages of other languages:
// `npm run catalog:renew`.

const root = path.resolve(import.meta.dirname, "../..");
const clients = path.join(root, "clients");
/** The folder of the catalog. */
export const catalogFolder = path.join(root, "docs/events");

/**
 * The field number of `message_type` in a file descriptor. The paths of source locations consist of such numbers and of
 * indexes.
 */
const MESSAGE = 4;
/** The field number of `field` in a message descriptor. */
const FIELD = 2;

/** Reads the comments of proto/, which generated code does not contain. */
function readComments(): CommentOf {
  const buf = path.join(root, "node_modules/@bufbuild/buf/bin/buf");
  const image = execFileSync(
    process.execPath,
    [buf, "build", "--as-file-descriptor-set", "-o", "-"],
    {
      cwd: root,
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const comments = new Map<string, string>();
  for (const file of fromBinary(FileDescriptorSetSchema, image).file) {
    for (const { path: place, leadingComments } of file.sourceCodeInfo?.location ?? []) {
      const [member, index = 0, part, fieldIndex = 0, ...more] = place;
      const message: DescriptorProto | undefined = file.messageType[index];
      if (member !== MESSAGE || !message || more.length > 0) continue;
      const field = part === FIELD ? message.field[fieldIndex] : undefined;
      if (part !== undefined && !field) continue;
      const name = [`${file.package}.${message.name}`, ...(field ? [field.name] : [])].join(" ");
      comments.set(name, leadingComments.trim().replace(/\s*\n\s*/g, " "));
    }
  }
  return ({ typeName }, field) =>
    comments.get(field ? `${typeName} ${field.name}` : typeName) ?? "";
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** Returns the text of each file of the catalog, by the name of the file. */
export function catalogFiles(): Map<string, string> {
  const commentOf = readComments();
  const { version }: { version: string } = JSON.parse(
    readFileSync(path.join(import.meta.dirname, "package.json"), "utf8"),
  );
  const files = new Map([["asyncapi.json", json(asyncApi(version, commentOf))]]);
  const rows = eventMessages.map((message) => {
    const type = eventType(message);
    files.set(`${type}.schema.json`, json(payloadSchema(message, commentOf)));
    files.set(`${type}.sample.json`, json(sampleEvent(message)));
    const fields = message.fields.map(({ jsonName }) => `\`${jsonName}\``).join(", ");
    return `| [\`${type}\`](${type}.schema.json) | ${commentOf(message)} | ${fields} |`;
  });
  const index = [
    "# Catalog of events",
    "",
    "Generated from `proto/` by `npm run catalog:renew`. [asyncapi.json](asyncapi.json) is the AsyncAPI 3 document of all events; each event has a JSON Schema, which `ce-dataschema` names, and a sample beside it. How to subscribe: [docs/events.md](../events.md).",
    "",
    "| type | meaning | payload |",
    "|---|---|---|",
    ...rows,
    "",
  ];
  files.set("README.md", index.join("\n"));
  return files;
}

/** Generates the files of the Go and Python client packages. Returns the text of each file by the file's path. */
export function clientFiles(): Map<string, string> {
  const commentOf = readComments();
  const python = path.join(clients, "python/statehouse_events");
  return new Map([
    [path.join(clients, "go/messages.go"), goMessages(commentOf)],
    [path.join(clients, "go/samples.json"), samples()],
    [path.join(python, "messages.py"), pythonMessages(commentOf)],
    [path.join(python, "samples.json"), samples()],
  ]);
}

if (import.meta.main) {
  // The files are generated before the old folder is deleted, so that the folder remains if a field has no sample value
  // and `catalogFiles` throws.
  const files = catalogFiles();
  rmSync(catalogFolder, { recursive: true, force: true });
  mkdirSync(catalogFolder, { recursive: true });
  for (const [name, content] of files) {
    writeFileSync(path.join(catalogFolder, name), content);
  }
  for (const [file, content] of clientFiles()) writeFileSync(file, content);
}
