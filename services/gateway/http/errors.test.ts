import {
  type AppError,
  badRequest,
  conflict,
  deadlineExceeded,
  forbidden,
  invalid,
  notFound,
  precondition,
  rateLimited,
  unauthenticated,
  unavailable,
} from "@statehouse/errors";
import { methodNotAllowed, unknownAddress } from "@statehouse/errors/http";
import { createLogger } from "@statehouse/runtime";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { bodyTooLarge, errorAnswer } from "./errors.ts";

const lines: string[] = [];
const logger = createLogger({
  service: "gateway",
  destination: { write: (line) => void lines.push(line) },
});
const answer = (error: unknown, declared: number[] = []) => errorAnswer(error, declared, logger);

const table: [AppError, number, string][] = [
  [badRequest("json", "d"), 400, "bad request"],
  [unauthenticated("d"), 401, "unauthorized"],
  [notFound("d"), 404, "not found"],
  [forbidden("x", "d"), 404, "not found"],
  [conflict("x", "d"), 409, "conflict"],
  [precondition("x", "d"), 412, "precondition failed"],
  [rateLimited("d", 7), 429, "too many requests"],
  [unavailable("x", "d"), 503, "service unavailable"],
  [deadlineExceeded("d"), 504, "gateway timeout"],
];

describe("an AppError", () => {
  test.each(table)("%s is %i", (error, status, title) => {
    const { errors, status: answered } = answer(error);
    expect(answered).toBe(status);
    expect(errors).toMatchObject([{ status: String(status), title }]);
  });

  test("forbidden is 403 if the route declares it", () => {
    proves("Access errors/a JSON API error object");
    expect(answer(forbidden("x", "Only owners may."), [403])).toMatchObject({
      status: 403,
      errors: [{ status: "403", code: "x", title: "forbidden", detail: "Only owners may." }],
    });
  });

  test("an `invalid` error lists every field with its pointer", () => {
    proves("Access errors/a JSON API error object", "JSON:API/errors");
    const { status, errors } = answer(
      invalid([
        { field: "/data/attributes/name", detail: "Name has already been taken" },
        { field: "/data/type", detail: "Type is required", title: "other title" },
      ]),
    );
    expect(status).toBe(422);
    expect(errors).toEqual([
      {
        status: "422",
        code: "invalid",
        title: "invalid attribute",
        detail: "Name has already been taken",
        source: { pointer: "/data/attributes/name" },
      },
      {
        status: "422",
        code: "invalid",
        title: "other title",
        detail: "Type is required",
        source: { pointer: "/data/type" },
      },
    ]);
  });

  test("forbidden that is not declared has the code of an unknown resource", () => {
    const detail = "The resource was not found, or you are not allowed to do this to it.";
    expect(answer(forbidden("x", "d")).errors).toMatchObject([{ code: "not_found", detail }]);
  });

  test("a rate-limited error contains the time to wait", () => {
    expect(answer(rateLimited("d", 7)).headers).toEqual({ "Retry-After": "7" });
  });
});

describe("a request that the HTTP server rejects before routing", () => {
  test("is a JSON:API document", () => {
    expect(answer(unknownAddress()).status).toBe(404);
    expect(answer(bodyTooLarge(5)).status).toBe(413);
    expect(answer(methodNotAllowed(["GET", "POST"]))).toMatchObject({
      status: 405,
      headers: { Allow: "GET, POST" },
      errors: [{ code: "method_not_allowed", detail: "Only GET, POST are allowed here." }],
    });
  });
});

test("any other error is 500, with its cause in the log only", () => {
  lines.length = 0;
  const { status, errors } = answer(new Error("the password is hunter2"));
  expect(status).toBe(500);
  expect(errors).toMatchObject([{ code: "internal_error" }]);
  expect(JSON.stringify(errors)).not.toContain("hunter2");
  expect(errors[0]?.detail).toContain("trace");
  expect(lines.join()).toContain("hunter2");
});
