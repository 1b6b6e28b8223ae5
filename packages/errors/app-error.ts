/** The kinds of errors that a caller distinguishes; architecture's table of errors. */
export const errorKinds = [
  "badRequest",
  "unauthenticated",
  "notFound",
  "forbidden",
  "invalid",
  "conflict",
  "precondition",
  "rateLimited",
  "unavailable",
  "deadlineExceeded",
] as const;

export type ErrorKind = (typeof errorKinds)[number];

/** The problem of one field of a request. */
export interface FieldError {
  /**
   * The path of the field in the request's message, as in AIP-193: `vcsRepo.identifier`, `tagBindings[2].key`,
   * `organizationAccess[manage-runs]` for the entry of a map. The settings of a noun are not part of the path.
   */
  field: string;
  detail: string;
  title?: string;
}

interface AppErrorInit {
  fields?: readonly FieldError[];
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** The only error whose text callers see; all other errors are internal. */
export class AppError extends Error {
  readonly kind: ErrorKind;
  /** Machine-readable, snake_case. */
  readonly reason: string;
  readonly fields: readonly FieldError[];
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: ErrorKind, reason: string, message: string, init: AppErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = "AppError";
    this.kind = kind;
    this.reason = reason;
    this.fields = init.fields ?? [];
    this.retryAfterSeconds = init.retryAfterSeconds;
  }
}

export const badRequest = (reason: string, message: string) =>
  new AppError("badRequest", reason, message);

export const unauthenticated = (message = "The token is missing, unknown or no longer valid.") =>
  new AppError("unauthenticated", "unauthenticated", message);

/** Also thrown if the caller may not learn that the target exists. */
export const notFound = (what = "resource") =>
  new AppError("notFound", "not_found", `The ${what} was not found, or you may not see it.`);

export const forbidden = (reason: string, message: string) =>
  new AppError("forbidden", reason, message);

/** Carries all problems of a request. */
export const invalid = (fields: readonly FieldError[]) =>
  new AppError("invalid", "invalid", fields.map(({ detail }) => detail).join("; "), { fields });

export const conflict = (reason: string, message: string) =>
  new AppError("conflict", reason, message);

export const precondition = (reason: string, message: string) =>
  new AppError("precondition", reason, message);

/** `retryAfterSeconds` in whole seconds. */
export const rateLimited = (message: string, retryAfterSeconds: number) =>
  new AppError("rateLimited", "rate_limited", message, { retryAfterSeconds });

/** A dependency does not respond, or work is still in progress; a later repeat can succeed. */
export const unavailable = (reason: string, message: string, cause?: unknown) =>
  new AppError("unavailable", reason, message, { cause });

/** The caller's deadline has passed; the work may or may not have been done. */
export const deadlineExceeded = (what = "The request", cause?: unknown) =>
  new AppError("deadlineExceeded", "deadline_exceeded", `${what} exceeded its time limit.`, {
    cause,
  });

/** Whether a later repeat can succeed: the other side did not respond, or not in time. */
export const isTransient = (error: unknown): boolean =>
  error instanceof AppError && (error.kind === "unavailable" || error.kind === "deadlineExceeded");

/** Whether the target does not exist or is hidden from the caller. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof AppError && error.kind === "notFound";

/** Whether it is an error of the system or of a library that has one of these codes: "ENOENT", "42P01". */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && codes.includes(String(Reflect.get(error, "code")));
