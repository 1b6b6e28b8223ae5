import { AppError, type FieldError } from "@statehouse/errors";
import { HttpProblem, httpErrors } from "@statehouse/errors/http";
import { type Logger, traceId } from "@statehouse/runtime";
import { type Pointers, pointerOf } from "./pointers.ts";

export const bodyTooLarge = (limit: number) =>
  new HttpProblem(413, "payload too large", `The request body may have at most ${limit} bytes.`);

/** One member of a JSON:API error document. */
export interface ErrorObject {
  /** A string, as JSON:API and clients want it. */
  status: string;
  title: string;
  detail: string;
  source?: { pointer: string };
}

export interface ErrorAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  errors: readonly ErrorObject[];
}

const fieldError = ({ field, detail, title }: FieldError, pointers?: Pointers): ErrorObject => ({
  status: "422",
  title: title || httpErrors.invalid.title,
  detail,
  source: { pointer: pointerOf(field, pointers) },
});

const single = (
  status: number,
  title: string,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): ErrorAnswer => ({
  status,
  headers,
  errors: [{ status: String(status), title, detail }],
});

/** The part of a route that its errors depend on. */
export interface Failing {
  readonly failures: readonly number[];
  readonly pointers?: Pointers | undefined;
}

function appErrorAnswer(error: AppError, { failures, pointers }: Failing): ErrorAnswer {
  if (error.kind === "invalid" && error.fields.length > 0) {
    const errors = error.fields.map((field) => fieldError(field, pointers));
    return { status: 422, headers: {}, errors };
  }
  if (error.kind === "forbidden" && !failures.includes(httpErrors.forbidden.status)) {
    const { status, title } = httpErrors.notFound;
    return single(status, title, "The resource was not found, or you may not do this to it.");
  }
  const { status, title } = httpErrors[error.kind];
  const { retryAfterSeconds } = error;
  return single(
    status,
    title,
    error.message,
    retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) },
  );
}

/**
 * The answer to a request whose route failed with `error`. Unexpected errors are logged here, once, and shown as a
 * trace id only.
 */
export function errorAnswer(error: unknown, route: Failing, logger: Logger): ErrorAnswer {
  if (error instanceof AppError) return appErrorAnswer(error, route);
  if (error instanceof HttpProblem) {
    return single(error.status, error.title, error.message, error.headers);
  }
  logger.error({ err: error }, "request failed");
  return single(
    500,
    "internal server error",
    `Something broke here. It is recorded under trace ${traceId() ?? "unknown"}.`,
  );
}
