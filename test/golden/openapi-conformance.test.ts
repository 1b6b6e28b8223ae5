import { routes } from "@statehouse/gateway/routes";
import { describe, expect, test } from "vitest";
import { undescribed } from "./openapi-conformance.ts";

// These tests concern `undescribed` itself; route-coverage.ts applies it to every response in the system tests.

const show = routes.find(({ path }) => path === "/api/v2/ssh-keys/:sshKeyId");
const json = { "content-type": "application/vnd.api+json" };
const body = {
  data: {
    id: "sshkey-1",
    type: "ssh-keys",
    attributes: { name: "deploy" },
    links: { self: "/api/v2/ssh-keys/sshkey-1" },
  },
};
const error = { status: "404", code: "not_found", title: "not found", detail: "Not found." };

function problemsOf(
  status: number,
  content: unknown,
  headers: Record<string, string> = {},
): string[] {
  if (!show) throw new Error("the route of SSH keys is gone");
  return undescribed(show, {
    status,
    headers: new Headers({ ...json, ...headers }),
    body: content,
  });
}

describe("a response is described", () => {
  test("if it has what the document says", () => {
    expect(problemsOf(200, body, { etag: 'W/"1"' })).toEqual([]);
    expect(problemsOf(404, { errors: [error] })).toEqual([]);
    expect(problemsOf(304, "", { etag: 'W/"1"' })).toEqual([]);
  });
});

describe("a response is not described", () => {
  test("with an unknown member, or without a documented member", () => {
    const attributes = { name: "deploy", fingerprint: "SHA256" };
    expect(problemsOf(200, { data: { ...body.data, attributes } })).toEqual([
      '/data/attributes must NOT have additional properties {"additionalProperty":"fingerprint"}',
    ]);
    expect(problemsOf(200, { data: { ...body.data, attributes: {} } })).toEqual([
      expect.stringContaining("must have required property 'name'"),
    ]);
  });
  test("with another status or media type", () => {
    expect(problemsOf(418, body)).toEqual(["the OpenAPI document has no such status"]);
    expect(problemsOf(200, body, { "content-type": "text/html" })).toEqual([
      "the media type is text/html",
    ]);
  });
  test("with an error that has an unknown code or none", () => {
    const unknown = { errors: [{ ...error, code: "somewhere_else" }] };
    expect(problemsOf(404, unknown)).toEqual([expect.stringContaining("/errors/0/code")]);
    const { code: _, ...without } = error;
    expect(problemsOf(404, { errors: [without] })).toEqual([expect.stringContaining("'code'")]);
  });
  test("with an unknown header, or without a required one", () => {
    expect(problemsOf(200, body, { "x-debug": "1" })).toEqual([
      "the OpenAPI document has no header x-debug",
    ]);
    const unauthenticated = { ...error, status: "401", code: "unauthenticated" };
    expect(problemsOf(401, { errors: [unauthenticated] })).toEqual([
      "the response has no header www-authenticate",
    ]);
    const unavailable = { ...error, status: "503", code: "service_unavailable" };
    expect(problemsOf(503, { errors: [unavailable] })).toEqual([
      "the response has no header retry-after",
    ]);
  });
});
