import { AppError, type ErrorKind, type FieldError } from "@statehouse/errors";
import { type Logger, traceId } from "@statehouse/runtime";

/** Architecture's table of errors. `forbidden` keeps its own row for the routes that declare 403. */
const answers = {
  badRequest: { status: 400, title: "bad request" },
  unauthenticated: { status: 401, title: "unauthorized" },
  notFound: { status: 404, title: "not found" },
  forbidden: { status: 403, title: "forbidden" },
  invalid: { status: 422, title: "invalid attribute" },
  conflict: { status: 409, title: "conflict" },
  precondition: { status: 412, title: "precondition failed" },
  rateLimited: { status: 429, title: "too many requests" },
  // The CLI retries outputs that are not extracted yet by this very title.
  unavailable: { status: 503, title: "service unavailable" },
  deadlineExceeded: { status: 504, title: "gateway timeout" },
} as const satisfies Record<ErrorKind, { status: number; title: string }>;

/** What only HTTP knows to refuse. */
export class HttpProblem extends Error {
  readonly status: number;
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    title: string,
    detail: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.name = "HttpProblem";
    this.status = status;
    this.title = title;
    this.headers = headers;
  }
}

/** JSON, because clients retry what is not: no path of ours is ever 501. */
export const unknownRoute = () =>
  new HttpProblem(404, "not found", "There is nothing at this address.");

export const methodNotAllowed = (allowed: readonly string[]) =>
  new HttpProblem(405, "method not allowed", `This address takes ${allowed.join(", ")} only.`, {
    Allow: allowed.join(", "),
  });

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

const pointerOf = (field: string) => (field.startsWith("/") ? field : `/data/attributes/${field}`);

const fieldError = ({ field, detail, title }: FieldError): ErrorObject => ({
  status: "422",
  title: title || answers.invalid.title,
  detail,
  source: { pointer: pointerOf(field) },
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

function appErrorAnswer(error: AppError, declared: readonly number[]): ErrorAnswer {
  if (error.kind === "invalid" && error.fields.length > 0) {
    return { status: 422, headers: {}, errors: error.fields.map(fieldError) };
  }
  if (error.kind === "forbidden" && !declared.includes(answers.forbidden.status)) {
    const { status, title } = answers.notFound;
    return single(status, title, "The resource was not found, or you may not do this to it.");
  }
  const { status, title } = answers[error.kind];
  const { retryAfterSeconds } = error;
  return single(
    status,
    title,
    error.message,
    retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) },
  );
}

/**
 * What a client hears of `error` on a route that declares the failure statuses `declared`. Errors that
 * are not ours are logged here, once, and shown as a trace id only.
 */
export function errorAnswer(
  error: unknown,
  declared: readonly number[],
  logger: Logger,
): ErrorAnswer {
  if (error instanceof AppError) return appErrorAnswer(error, declared);
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
