import type { ErrorKind } from "./app-error.ts";

/** Architecture's table of errors for HTTP. `forbidden` is 404 wherever 403 is not declared. */
export const httpErrors = {
  badRequest: { status: 400, title: "bad request" },
  unauthenticated: { status: 401, title: "unauthorized" },
  notFound: { status: 404, title: "not found" },
  forbidden: { status: 403, title: "forbidden" },
  invalid: { status: 422, title: "invalid attribute" },
  conflict: { status: 409, title: "conflict" },
  precondition: { status: 412, title: "precondition failed" },
  rateLimited: { status: 429, title: "too many requests" },
  // The CLI matches this title to retry outputs that are not extracted yet.
  unavailable: { status: 503, title: "service unavailable" },
  deadlineExceeded: { status: 504, title: "gateway timeout" },
} as const satisfies Record<ErrorKind, { status: number; title: string }>;

/** Refusals that exist in HTTP only. */
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

/** JSON, because clients retry other formats: no path is ever 501. */
export const unknownAddress = () =>
  new HttpProblem(404, "not found", "There is nothing at this address.");

export const methodNotAllowed = (allowed: readonly string[]) =>
  new HttpProblem(405, "method not allowed", `This address takes ${allowed.join(", ")} only.`, {
    Allow: allowed.join(", "),
  });
