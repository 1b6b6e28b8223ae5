import { AppError, type FieldError } from "@statehouse/errors";
import { HttpProblem, httpErrors, retryAfterOf } from "@statehouse/errors/http";
import { type Logger, traceId } from "@statehouse/runtime";

export const bodyTooLarge = (limit: number) =>
  new HttpProblem(
    413,
    "payload_too_large",
    "payload too large",
    `The request body may have at most ${limit} bytes.`,
  );

export const bodyTooLate = () =>
  new HttpProblem(
    408,
    "request_timeout",
    "request timeout",
    "The request body did not arrive in time.",
    { Connection: "close" },
  );

/**
 * Creates the error for a body that does not fit into the memory for all bodies or into the principal's share of it.
 */
export const tooManyBodies = () =>
  new AppError(
    "unavailable",
    "request_bodies",
    "The server is receiving too many large request bodies; try again.",
    { retryAfterSeconds: 1 },
  );

/** The maximum number of problems in one response; further problems are omitted. */
export const MAX_PROBLEMS = 20;

/** An error in a JSON:API error document. */
export interface ErrorObject {
  /** The HTTP status as a string, as JSON:API requires. */
  status: string;
  /** Machine-readable and stable, snake_case. */
  code: string;
  title: string;
  detail: string;
  source?: { pointer: string };
}

export interface ErrorAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  errors: readonly ErrorObject[];
}

/** Converts one error in a field to an error object. `field` is already a JSON pointer here; see `withPointers`. */
const fieldError = ({ field, detail, title }: FieldError): ErrorObject => ({
  status: "422",
  code: "invalid",
  title: title || httpErrors.invalid.title,
  detail,
  source: { pointer: field },
});

const single = (
  status: number,
  code: string,
  title: string,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): ErrorAnswer => ({
  status,
  headers,
  errors: [{ status: String(status), code, title, detail }],
});

function appErrorAnswer(error: AppError, declared: readonly number[]): ErrorAnswer {
  if (error.kind === "invalid" && error.fields.length > 0) {
    return {
      status: 422,
      headers: {},
      errors: error.fields.slice(0, MAX_PROBLEMS).map(fieldError),
    };
  }
  if (error.kind === "forbidden" && !declared.includes(httpErrors.forbidden.status)) {
    const { status, title } = httpErrors.notFound;
    return single(
      status,
      "not_found",
      title,
      "The resource was not found, or you are not allowed to do this to it.",
    );
  }
  const { status, title } = httpErrors[error.kind];
  const retryAfterSeconds = retryAfterOf(error);
  return single(status, error.reason, title, error.message, {
    ...(retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) }),
    ...(error.kind === "unauthenticated" ? { "WWW-Authenticate": "Bearer" } : {}),
  });
}

/**
 * Creates the response to a request that failed with `error`. `declared` are the failure statuses of the route.
 * Unexpected errors are logged once, here; the client receives only the trace id.
 */
export function errorAnswer(
  error: unknown,
  declared: readonly number[],
  logger: Logger,
): ErrorAnswer {
  if (error instanceof AppError) return appErrorAnswer(error, declared);
  if (error instanceof HttpProblem) {
    return single(error.status, error.code, error.title, error.message, error.headers);
  }
  logger.error({ err: error }, "request failed");
  return single(
    500,
    "internal_error",
    "internal server error",
    `An internal error occurred. Its trace id is ${traceId() ?? "unknown"}.`,
  );
}
