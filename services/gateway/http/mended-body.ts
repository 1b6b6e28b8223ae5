import { AppError, type FieldError } from "@statehouse/errors";
import type { z } from "zod";
import { parseBody } from "./body.ts";

/** A body as far as its schema takes it, and what is wrong with the rest. */
export interface MendedBody<Body> {
  body: Body;
  problems: readonly FieldError[];
}

/**
 * Like `parseBody`, for a service that tells what it finds wrong beside the problems that the schema has: what
 * is of the wrong kind is taken out of `given`, so that the service can look at all the others. Throws
 * `invalid` where nothing can be made of it.
 */
export function mendBody<Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
): MendedBody<z.infer<Schema>> {
  try {
    return { body: parseBody(schema, given), problems: [] };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const mended = withoutWrong(schema, given ?? {});
    if (!mended) throw error;
    return { body: mended.body, problems: error.fields };
  }
}

/** What is wrong is taken out, then what must be there after all is put in, as the least of its kind. */
function withoutWrong<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): { body: z.infer<Schema> } | undefined {
  for (const mend of [takeOut, putIn]) {
    const { error } = schema.safeParse(body);
    for (const issue of error?.issues ?? []) mend(body, issue);
  }
  const result = schema.safeParse(body);
  return result.success ? { body: result.data } : undefined;
}

function takeOut(body: unknown, { path }: z.core.$ZodIssue): void {
  const holder = holderOf(body, path);
  if (holder) Reflect.deleteProperty(holder, path.at(-1) ?? "");
}

function putIn(body: unknown, issue: z.core.$ZodIssue): void {
  const holder = holderOf(body, issue.path);
  const name = issue.path.at(-1);
  if (!holder || name === undefined) return;
  if (issue.code === "invalid_value") Reflect.set(holder, name, issue.values[0]);
  if (issue.code === "invalid_type" && issue.expected === "string") Reflect.set(holder, name, "");
}

/** What the member at `path` is a member of, if that is there. */
function holderOf(body: unknown, path: readonly PropertyKey[]): object | undefined {
  let holder = body;
  for (const part of path.slice(0, -1)) {
    if (!isObject(holder)) return undefined;
    holder = Reflect.get(holder, part);
  }
  return isObject(holder) ? holder : undefined;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
