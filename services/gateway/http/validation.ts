import { AppError, type FieldError, invalid } from "@statehouse/errors";
import { type Pointers, pointerOf } from "../jsonapi/pointers.ts";

/** Runs `call`. If it throws `invalid`, replaces the field paths in the error with JSON pointers into the body. */
export async function withPointers<Result>(
  pointers: Pointers | undefined,
  call: () => Promise<Result>,
): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (!isInvalid(error)) throw error;
    throw invalid(error.fields.map((one) => ({ ...one, field: pointerOf(one.field, pointers) })));
  }
}

/**
 * Throws `invalid` with `problems` and with the problems that `validate` throws. A problem that `validate` finds at or
 * below the position of one of `problems` is omitted, because it is only a consequence of the problem at that position.
 * Other errors that `validate` throws, such as `notFound`, take precedence.
 */
export async function refuse(
  problems: readonly FieldError[],
  validate: () => Promise<unknown>,
): Promise<never> {
  const found: FieldError[] = [];
  try {
    await validate();
  } catch (error) {
    if (!isInvalid(error)) throw error;
    found.push(...error.fields);
  }
  const follows = (pointer: string) =>
    problems.some(({ field }) => pointer === field || pointer.startsWith(`${field}/`));
  throw invalid([...problems, ...found.filter(({ field }) => !follows(field))]);
}

const isInvalid = (error: unknown): error is AppError =>
  error instanceof AppError && error.kind === "invalid" && error.fields.length > 0;
