import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "@statehouse/errors";
import { HttpProblem, httpErrors, retryAfterOf } from "@statehouse/errors/http";
import { type Logger, traceId } from "@statehouse/runtime";

/** Altered, foreign and expired upload tokens get the same response, because the difference would help an attacker. */
export const unknownUploadUrl = () =>
  new HttpProblem(404, "not_found", "not found", "This upload URL is invalid or has expired.");

export const lengthRequired = () =>
  new HttpProblem(
    411,
    "length_required",
    "length required",
    "The upload must have a Content-Length.",
  );

export const contentEmpty = () =>
  new HttpProblem(
    400,
    "empty_upload",
    "bad request",
    "The upload has no content; nothing was stored.",
  );

export const contentTooLarge = (limit: number) =>
  new HttpProblem(
    413,
    "payload_too_large",
    "payload too large",
    `A state can have at most ${limit} bytes.`,
  );

export const rangeNotSatisfiable = (size: number) =>
  new HttpProblem(
    416,
    "range_not_satisfiable",
    "range not satisfiable",
    `The content has ${size} bytes.`,
    {
      "content-range": `bytes */${size}`,
    },
  );

/**
 * How long the rest of a refused request is read and discarded, in ms. Without this time, the client could not read the
 * response.
 */
const LINGER_MS = 2_000;

/** Sends a response without content. */
export function answerDone(response: ServerResponse): void {
  response.writeHead(200, { "content-length": "0" });
  response.end();
}

/** Sends a JSON:API error document. Logs unexpected errors. */
export function answerFailure(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  logger: Logger,
): void {
  if (response.headersSent || response.destroyed) {
    // The headers are already sent, so only closing the connection can signal the error.
    if (!response.destroyed) logger.warn({ err: error }, "download aborted");
    response.destroy();
    return;
  }
  const { status, code, title, message: detail, headers } = problemOf(error);
  if (status >= 500) logger.error({ err: error, status }, "request failed");
  const body = JSON.stringify({ errors: [{ status: String(status), code, title, detail }] });
  const unread = !request.complete;
  response.writeHead(status, {
    ...headers,
    "content-type": "application/vnd.api+json",
    "content-length": String(Buffer.byteLength(body)),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(unread ? { connection: "close" } : {}),
  });
  if (!unread || request.method === "HEAD") response.end(body);
  else linger(request, response, body);
}

/**
 * Sends the body but keeps the connection open for a while. If the connection were closed while the client still sends,
 * it would be reset, and the client would not read the response.
 */
function linger(request: IncomingMessage, response: ServerResponse, body: string): void {
  response.write(body);
  const timer = setTimeout(() => response.end(), LINGER_MS);
  request.once("close", () => clearTimeout(timer));
  request.once("end", () => response.end());
  request.resume();
}

function problemOf(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof AppError) {
    // A forbidden request returns 404, because the API defines no 403 for these URLs.
    const isForbidden = error.kind === "forbidden";
    const { status, title } = httpErrors[isForbidden ? "notFound" : error.kind];
    const code = isForbidden ? "not_found" : error.reason;
    const retryAfter = retryAfterOf(error);
    return new HttpProblem(status, code, title, error.message, {
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
      ...(error.kind === "unauthenticated" ? { "www-authenticate": "Bearer" } : {}),
    });
  }
  const detail = `An internal error occurred. Its trace id is ${traceId() ?? "unknown"}.`;
  return new HttpProblem(500, "internal_error", "internal server error", detail);
}
