/**
 * The kinds of errors that a caller can distinguish. rpc/error.ts maps them to gRPC codes, http.ts to HTTP statuses.
 */
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

/** A problem with one field of a request. */
export interface FieldError {
  /**
   * The path of the field in the request's message, as in AIP-193: `vcsRepo.identifier`, `tagBindings[2].key`, or
   * `organizationAccess[manage-runs]` for an entry of a map. Fields of a `settings` message have no `settings.` prefix.
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

/**
 * An error whose message callers receive. All other errors, except `HttpProblem`, are reported as internal errors.
 */
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

/** Creates the error for a target that does not exist, or whose existence the caller must not learn. */
export const notFound = (what = "resource") =>
  new AppError(
    "notFound",
    "not_found",
    `The ${what} was not found, or you are not allowed to see it.`,
  );

export const forbidden = (reason: string, message: string) =>
  new AppError("forbidden", reason, message);

/** Creates one error that contains all problems of a request. */
export const invalid = (fields: readonly FieldError[]) =>
  new AppError("invalid", "invalid", fields.map(({ detail }) => detail).join("; "), { fields });

export const conflict = (reason: string, message: string) =>
  new AppError("conflict", reason, message);

export const precondition = (reason: string, message: string) =>
  new AppError("precondition", reason, message);

/** Creates the error for a caller that sent too many requests. `retryAfterSeconds` is in whole seconds. */
export const rateLimited = (message: string, retryAfterSeconds: number) =>
  new AppError("rateLimited", "rate_limited", message, { retryAfterSeconds });

/**
 * Creates the error for a dependency that does not respond, or for work that is still in progress. A later retry can
 * succeed.
 */
export const unavailable = (reason: string, message: string, cause?: unknown) =>
  new AppError("unavailable", reason, message, { cause });

/** Creates the error for a call whose deadline has passed. It is unknown whether the work was done. */
export const deadlineExceeded = (what = "The request", cause?: unknown) =>
  new AppError("deadlineExceeded", "deadline_exceeded", `${what} exceeded its time limit.`, {
    cause,
  });

/** Returns whether a later retry can succeed: the error is `unavailable` or `deadlineExceeded`. */
export const isTransient = (error: unknown): boolean =>
  error instanceof AppError && (error.kind === "unavailable" || error.kind === "deadlineExceeded");

/** Returns whether the error is `notFound`: the target does not exist or is hidden from the caller. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof AppError && error.kind === "notFound";

/** Returns whether `error` has one of `codes`, which come from the operating system or a library: `ENOENT`, `42P01`. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && codes.includes(String(Reflect.get(error, "code")));
