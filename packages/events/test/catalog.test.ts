import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import asyncApiSchema from "@asyncapi/specs/schemas/3.0.0.json" with { type: "json" };
import { fromJson } from "@bufbuild/protobuf";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { asyncApi, eventMessages, headersSchema, payloadSchema, sampleEvent } from "../catalog.ts";
import { catalogFiles, catalogFolder, clientFiles } from "../catalog-files.ts";
import { eventType } from "../event.ts";

const ajv = () => new Ajv({ strict: false, validateFormats: false });

test("docs/events is generated from proto/", () => {
  const files = catalogFiles();
  expect(readdirSync(catalogFolder).toSorted(), "run npm run catalog:renew").toEqual(
    [...files.keys()].toSorted(),
  );
  for (const [name, content] of files) {
    const committed = readFileSync(path.join(catalogFolder, name), "utf8");
    expect(committed, `${name}: run npm run catalog:renew`).toBe(content);
  }
  expect(files.get("README.md")).not.toContain("|  |");
});

test("the messages of the packages of other languages are generated from proto/", () => {
  for (const [file, content] of clientFiles()) {
    expect(readFileSync(file, "utf8"), `${file}: run npm run catalog:renew`).toBe(content);
  }
});

test("the document is valid AsyncAPI 3", () => {
  // Without `meta: false`, ajv would add the schema of JSON Schema a second time: the AsyncAPI schema contains it.
  const options = { strict: false, validateFormats: false, meta: false, validateSchema: false };
  const validate = new Ajv(options).compile(asyncApiSchema);
  const document = JSON.parse(JSON.stringify(asyncApi("1.0.0", () => "")));
  validate(document);
  expect(validate.errors).toBeNull();
  expect(validate({ ...document, channels: 7 })).toBe(false);
  const addresses = Object.values(asyncApi("1.0.0", () => "").channels ?? {});
  expect(addresses).toHaveLength(eventMessages.length);
});

test("every sample is valid and complete, and contains no secret", () => {
  const validHeaders = ajv().compile(headersSchema);
  for (const message of eventMessages) {
    const type = eventType(message);
    const { subject, headers, payload } = sampleEvent(message);
    expect(validHeaders(headers), JSON.stringify(validHeaders.errors)).toBe(true);
    const valid = ajv().compile(payloadSchema(message));
    expect(valid(payload), `${type}: ${JSON.stringify(valid.errors)}`).toBe(true);
    expect(() => fromJson(message, JSON.parse(JSON.stringify(payload)))).not.toThrow();
    expect(Object.keys(payload)).toEqual(message.fields.map(({ jsonName }) => jsonName));
    expect(subject.startsWith(`${type}.`)).toBe(true);
    for (const { jsonName, proto } of message.fields) {
      if (proto.options?.debugRedact) expect(payload[jsonName]).toBe("(secret)");
    }
  }
});
