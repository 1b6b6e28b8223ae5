import { badRequest, type FieldError, invalid, inWords } from "@statehouse/errors";
import type { z } from "zod";
import { MAX_PROBLEMS } from "./errors.ts";
import { parseLeniently } from "./lenient.ts";

/** Matches escape sequences that can encode characters that the database does not accept. */
const SUSPECT = /\\u(?:0000|d[89a-f])/i;

/** Parses UTF-8 text as JSON; returns undefined if it contains only white space. Throws `badRequest` or `invalid`. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes);
  if (text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badRequest("json", "The request body is not valid JSON.");
  }
  if (SUSPECT.test(text)) refuseUnstorable(value);
  return value;
}

/**
 * Throws for characters that the database does not accept. Not recursive, because a client can nest a body to any
 * depth.
 */
function refuseUnstorable(body: unknown): void {
  const open: [value: object, pointer: string][] = [];
  // Pointers are created only for lists and objects, because a body can contain many more strings and numbers than
  // lists and objects.
  const visit = (value: unknown, parent: string, name?: string | number) => {
    if (typeof value === "string") {
      if (value.includes("\0") || !value.isWellFormed()) {
        const field = name === undefined ? parent : `${parent}/${name}`;
        throw invalid([{ field: field || "/", detail: "Text contains invalid characters" }]);
      }
    } else if (value !== null && typeof value === "object") {
      open.push([value, name === undefined ? parent : `${parent}/${name}`]);
    }
  };
  visit(body, "");
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, pointer] = next;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) visit(value[index], pointer, index);
      continue;
    }
    for (const name of Object.keys(value)) {
      visit(name, pointer);
      visit(Reflect.get(value, name), pointer, name);
    }
  }
}

/** Parses a body by its schema. Throws `invalid` with all problems, each with its JSON pointer. */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): z.infer<Schema> {
  const result = schema.safeParse(body ?? {}, { error: problemOf });
  if (result.success) return result.data;
  throw invalid(problemsIn(result.error.issues));
}

/**
 * Parses like `parseBody`, but does not throw: returns the valid part of the body and the problems of the rest. A
 * service can then validate the valid part as well.
 */
export function parseBodyLeniently(
  schema: z.ZodType,
  body: unknown,
): { body: unknown; problems: readonly FieldError[] } {
  const { success, data, error } = schema.safeParse(body ?? {}, { error: problemOf });
  if (success) return { body: data, problems: [] };
  return { body: parseLeniently(schema, body ?? {}), problems: problemsIn(error.issues) };
}

function problemsIn(issues: readonly z.core.$ZodIssue[]): FieldError[] {
  // A number can fail several checks with the same message; the client receives only one problem.
  const problems = new Map<string, FieldError>();
  for (const { path, message } of issues) {
    if (problems.size === MAX_PROBLEMS) break;
    const field = `/${path.map(String).join("/")}`;
    const detail = `${inWords(nameIn(path))} ${message}`;
    problems.set(`${field} ${detail}`, { field, detail });
  }
  return [...problems.values()];
}

/** Returns the last name in a path, ignoring list indexes. */
const nameIn = (path: readonly PropertyKey[]): string =>
  String(path.findLast((part) => typeof part === "string" && !/^\d+$/.test(part)) ?? "body");

const kinds: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

/**
 * Returns the text that follows the field's name and describes the problem; undefined if the schema's own message is
 * used.
 */
function problemOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined || issue.input === null) return "is required";
      return `must be ${kinds[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      if (issue.input === undefined || issue.input === null) return "is required";
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "too_big":
      return issue.origin === "array" ? `may have at most ${issue.maximum} items` : "is invalid";
    case "too_small":
    case "invalid_format":
      return "is invalid";
    default:
      return undefined;
  }
}
