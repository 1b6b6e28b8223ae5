import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "@statehouse/errors";
import { methodNotAllowed, unknownAddress } from "@statehouse/errors/http";
import { isId } from "@statehouse/postgres/ids";
import {
  type AuthenticationLimit,
  limitReceiving,
  type Proxies,
  traceId,
  withServerSpan,
} from "@statehouse/runtime";
import { answerFailure } from "./answer-http.ts";
import type { Exchange, Objects } from "./context-http.ts";
import { sendContent } from "./download-http.ts";
import { requestMetrics } from "./request-metrics-http.ts";
import { receiveContent } from "./upload-http.ts";

/**
 * Handles everything under /v1/object. `awaitsContinue` is true for requests from the server's `checkContinue` event,
 * whose clients send the body only after a 100 response.
 */
export type ObjectHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  awaitsContinue?: boolean,
) => void;

export interface HandlerOptions {
  /** How long a connection may be idle while a body is transferred, in ms. */
  idleMs: number;
  /** Time limit for receiving a body, in ms; see `limitReceiving`. */
  bodyMs: number;
  /**
   * The proxies whose trace context and client address are accepted. A trace context from any other client could name
   * an unrelated trace.
   */
  proxies: Proxies;
  /** Limits the number of downloads whose tokens are not valid. */
  authenticationLimit: AuthenticationLimit;
}

const BASE = "/v1/object/";

/** Creates a plain request handler, so that callers can serve it on their own listener. */
export function createObjectHandler(
  objects: Objects,
  { idleMs, bodyMs, proxies, authenticationLimit }: HandlerOptions,
): ObjectHandler {
  const { measure, notAuthenticated } = requestMetrics();
  return (request, response, awaitsContinue = false) => {
    const gone = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) gone.abort(new Error("the client has disconnected"));
    });
    response.once("timeout", () => response.destroy());
    const watch = () => void response.setTimeout(idleMs);
    watch();
    limitReceiving(request, bodyMs, () => response.destroy());
    // The idle time limit ends with the request's last byte. The client then waits for the response, which can take as
    // long as the time limits of the store and the database.
    request.once("end", () => response.setTimeout(0));
    const route = routeOf(request);
    measure(request, response, route.name);
    const traced = proxies.sent(request) ? request.headers.traceparent?.toString() : undefined;
    // The span has the route's name instead of the path, because the path of an upload contains the upload token.
    const attributes = { "http.route": route.name };
    void withServerSpan(`${request.method} ${route.name}`, traced, attributes, async (span) => {
      response.setHeader("x-request-id", traceId() ?? "");
      try {
        const { signal } = gone;
        const address = proxies.clientOf(request) || undefined;
        const client = { address, authenticationLimit };
        await route.serve(objects, { request, response, signal, awaitsContinue, watch, ...client });
      } catch (error) {
        if (error instanceof AppError && error.kind === "unauthenticated") {
          notAuthenticated(request.headers.authorization === undefined ? "missing" : "refused");
        }
        const { logger } = objects.app;
        if (gone.signal.aborted) logger.info({ route: route.name }, "the client has disconnected");
        answerFailure(request, response, error, logger);
      }
      span.setAttribute("http.response.status_code", response.statusCode);
    });
  };
}

interface Route {
  name: string;
  serve(objects: Objects, exchange: Exchange): Promise<void>;
}

function routeOf({ method = "", url = "" }: IncomingMessage): Route {
  const path = url.split("?", 1)[0] ?? "";
  const [object = "", ...rest] = path.startsWith(BASE) ? path.slice(BASE.length).split("/") : [];
  const [part] = rest;
  if (isId("sv", object) && (rest.length === 0 || (rest.length === 1 && part === "json"))) {
    const kind = part === "json" ? "json" : "raw";
    const name = kind === "json" ? `${BASE}:id/json` : `${BASE}:id`;
    if (method !== "GET" && method !== "HEAD")
      return refusing(name, methodNotAllowed(["GET", "HEAD"]));
    return {
      name,
      serve: (objects, exchange) => sendContent(objects, { ...exchange, versionId: object, kind }),
    };
  }
  if (object === "" || rest.length > 0) return refusing("unknown", unknownAddress());
  const name = `${BASE}:token`;
  if (method !== "PUT") return refusing(name, methodNotAllowed(["PUT"]));
  return {
    name,
    serve: (objects, exchange) => receiveContent(objects, { ...exchange, token: object }),
  };
}

const refusing = (name: string, problem: Error): Route => ({
  name,
  serve: () => Promise.reject(problem),
});
