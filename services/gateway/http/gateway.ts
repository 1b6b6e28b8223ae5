import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { metrics } from "@opentelemetry/api";
import { AppError, type FieldError } from "@statehouse/errors";
import {
  type Edition,
  type Logger,
  runWithDeadline,
  traceId,
  withServerSpan,
} from "@statehouse/runtime";
import Koa from "koa";
import type { Clients } from "../clients.ts";
import { type IncludeTree, parseInclude } from "../jsonapi/include.ts";
import type { ObjectUpload } from "../object-upload.ts";
import { type Authenticate, type Caller, credentialTypes } from "./authentication.ts";
import { parseBody, parseBodyLeniently, readJson } from "./body.ts";
import { errorAnswer } from "./errors.ts";
import type { Route, Settings } from "./route.ts";
import { createRouter, type Match } from "./router.ts";
import { refuse, withPointers } from "./validation.ts";

export interface GatewayOptions {
  routes: readonly Route[];
  client: Clients;
  objects: ObjectUpload;
  authenticate: Authenticate;
  edition: Edition;
  settings: Settings;
  logger: Logger;
  /** Base of the links that clients follow. */
  publicUrl: string;
  maxBodyBytes: number;
  /** From the moment the request is read, in ms. */
  requestTimeoutMs: number;
}

/** What stands in for a caller on routes that anybody may ask. */
const nobody: Caller = {
  principal: { type: "service", id: "nobody", versions: "" },
  assertion: () => Promise.reject(new Error("a route without credentials called a service")),
};
const noQuery = new URLSearchParams();
const noFailures: readonly number[] = [];

/** Answers HTTP requests by the routes' declarations. To be mounted on a listener. */
export function createGateway(options: GatewayOptions): RequestListener {
  const { edition, logger, requestTimeoutMs } = options;
  const find = createRouter(options.routes, edition);
  const durations = metrics
    .getMeter("statehouse/gateway")
    .createHistogram("statehouse_http_request_duration_seconds", { unit: "s" });
  const soon = () => Date.now() + requestTimeoutMs;

  const answer = async (ctx: Koa.Context, { route, params }: Match): Promise<void> => {
    const { credentials } = route;
    const caller =
      credentials === "none"
        ? nobody
        : await runWithDeadline(soon(), () => options.authenticate(ctx.req.headers.authorization));
    refuseForeignCredentials(caller, credentials);
    const query = ctx.querystring ? new URLSearchParams(ctx.querystring) : noQuery;
    const includes = readIncludes(route, query);
    const { body, problems } = await readBody(route, ctx.req, options.maxBodyBytes);
    const { client, objects, settings } = options;
    const validateOnly = problems.length > 0;
    const input = { params, body, validateOnly, query, client, objects, caller, edition, settings };
    const url = () => `${options.publicUrl}${ctx.url}`;
    const call = () =>
      withPointers(route.pointers, () =>
        runWithDeadline(soon(), () => route.answer(input, { context: input, includes, url })),
      );
    const text = await (validateOnly ? refuse(problems, call) : call());
    ctx.status = route.success;
    if (route.contentType) ctx.set("Content-Type", route.contentType);
    if (route.headers) ctx.set(route.headers(edition));
    if (text !== undefined) ctx.body = text;
  };

  const fail = (ctx: Koa.Context, error: unknown, route: Route | undefined): void => {
    const { status, headers, errors } = errorAnswer(error, route?.failures ?? noFailures, logger);
    ctx.status = status;
    ctx.set("Content-Type", "application/vnd.api+json");
    ctx.set(headers);
    ctx.body = JSON.stringify({ errors });
  };

  const app = new Koa();
  app.use(async (ctx) => {
    const startedAt = performance.now();
    let match: Match | undefined;
    let failure: unknown;
    try {
      match = find(ctx.method, ctx.url);
    } catch (error) {
      failure = error;
    }
    const { method } = ctx;
    // Never the path itself: it may carry names, and with them whatever a stranger sends.
    const path = match?.route.path ?? "unknown";
    const attributes = { "http.request.method": method, "http.route": path };
    await withServerSpan(
      `${method} ${path}`,
      ctx.req.headers.traceparent?.toString(),
      attributes,
      async (span) => {
        ctx.set("X-Request-Id", traceId() ?? "");
        ctx.set("Cache-Control", "no-store");
        if (match) {
          try {
            await answer(ctx, match);
          } catch (error) {
            failure = error;
          }
        }
        if (failure) fail(ctx, failure, match?.route);
        const { status } = ctx;
        const seconds = (performance.now() - startedAt) / 1000;
        span.setAttribute("http.response.status_code", status);
        durations.record(seconds, { method, route: path, status });
        logger.info(
          {
            method,
            route: path,
            status,
            ms: Math.round(seconds * 10_000) / 10,
            ...(failure instanceof AppError ? reasonOf(failure) : {}),
          },
          "request",
        );
      },
    );
  });
  const callback = app.callback();
  return (request: IncomingMessage, response: ServerResponse) => {
    callback(request, response).catch((error: unknown) => {
      logger.error({ err: error }, "answer could not be written");
      response.destroy();
    });
  };
}

const noBody = { body: undefined, problems: [] };

async function readBody(
  { body: schema, validatesOnly }: Route,
  request: IncomingMessage,
  limit: number,
): Promise<{ body: unknown; problems: readonly FieldError[] }> {
  if (!schema) return noBody;
  const json = await readJson(request, limit);
  if (validatesOnly) return parseBodyLeniently(schema, json);
  return { body: parseBody(schema, json), problems: [] };
}

/** For the log: clients are not told what lies behind an error of ours. */
const reasonOf = ({ reason, cause }: AppError) => ({
  reason,
  ...(cause === undefined ? {} : { err: cause }),
});

function refuseForeignCredentials(caller: Caller, credentials: Route["credentials"]): void {
  if (credentials === undefined || credentials === "none") return;
  const { type } = caller.principal;
  if (credentials.some((allowed) => allowed === type)) return;
  const kind = credentialTypes.find((known) => known === type) ?? "such";
  throw new AppError(
    "forbidden",
    "credential_not_allowed",
    `This cannot be done with ${kind} tokens.`,
  );
}

/** To a route without includes the parameter is one of the unknown ones, which are ignored. */
function readIncludes(route: Route, query: URLSearchParams): IncludeTree | undefined {
  if (query === noQuery || route.includes.length === 0) return undefined;
  const include = query.get("include");
  if (!include) return undefined;
  const tree = parseInclude(include, route.includes);
  return tree.size > 0 ? tree : undefined;
}
