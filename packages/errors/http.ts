import type { AppError, ErrorKind } from "./app-error.ts";

/**
 * The HTTP status and title of each error kind. A `forbidden` error is sent as 404 on routes that do not declare 403.
 */
export const httpErrors = {
  badRequest: { status: 400, title: "bad request" },
  unauthenticated: { status: 401, title: "unauthorized" },
  notFound: { status: 404, title: "not found" },
  forbidden: { status: 403, title: "forbidden" },
  invalid: { status: 422, title: "invalid attribute" },
  conflict: { status: 409, title: "conflict" },
  precondition: { status: 412, title: "precondition failed" },
  rateLimited: { status: 429, title: "too many requests" },
  // The Terraform CLI retries a request for outputs that are not extracted yet only if the error has this title.
  unavailable: { status: 503, title: "service unavailable" },
  deadlineExceeded: { status: 504, title: "gateway timeout" },
} as const satisfies Record<ErrorKind, { status: number; title: string }>;

/** Returns the value of Retry-After in seconds, if the response has this header. Every 503 response has it. */
export const retryAfterOf = ({ kind, retryAfterSeconds }: AppError): number | undefined =>
  retryAfterSeconds ?? (kind === "unavailable" ? 1 : undefined);

/** An error that exists only in HTTP, such as a request to an unknown path. */
export class HttpProblem extends Error {
  readonly status: number;
  /** Machine-readable and stable, snake_case. */
  readonly code: string;
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    title: string,
    detail: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.name = "HttpProblem";
    this.status = status;
    this.code = code;
    this.title = title;
    this.headers = headers;
  }
}

/**
 * Creates the error for an unknown path. Clients retry a response that is not JSON, and a response with status 501, so
 * the response is JSON and its status is never 501.
 */
export const unknownAddress = () => new HttpProblem(404, "not_found", "not found", "Not found.");

/** Creates the error for an upload or download of state bytes that reaches the gateway. */
export const wronglyRouted = () =>
  new HttpProblem(
    404,
    "not_found",
    "not found",
    "The state service serves this path: the proxy must route /v1/object/ to it, not to the gateway.",
  );

export const methodNotAllowed = (allowed: readonly string[]) =>
  new HttpProblem(
    405,
    "method_not_allowed",
    "method not allowed",
    `Only ${allowed.join(", ")} ${allowed.length === 1 ? "is" : "are"} allowed here.`,
    { Allow: allowed.join(", ") },
  );
