import { AppError, type ErrorKind, type FieldError } from "@statehouse/errors";

export interface Failure {
  kind: ErrorKind;
  reason: string;
  message: string;
  fields: FieldError[];
}

/** The error that a call throws, for assertions. Throws if the call succeeds or fails with another type of error. */
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
