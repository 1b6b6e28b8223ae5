import { AppError, type ErrorKind, type FieldError } from "@statehouse/errors";

export interface Failure {
  kind: ErrorKind;
  reason: string;
  message: string;
  fields: FieldError[];
}

/**
 * Returns the error with which a call fails, for assertions. Throws if the call succeeds or fails with an error that is
 * not an `AppError`.
 */
export async function failureOf(call: Promise<unknown>): Promise<Failure> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { kind, reason, message } = error;
    return {
      kind,
      reason,
      message,
      fields: error.fields.map(({ field, detail }) => ({ field, detail })),
    };
  }
  throw new Error("the call succeeded");
}
