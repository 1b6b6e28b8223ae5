import { AppError, type FieldError, Problems } from "@statehouse/errors";

/** Returns the problems that a validation adds. */
export function problemsOf(check: (problems: Problems) => void): readonly FieldError[] {
  const problems = new Problems();
  check(problems);
  try {
    problems.throwIfAny();
  } catch (error) {
    if (error instanceof AppError) return error.fields;
    throw error;
  }
  return [];
}
