import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Logger, Proxies } from "@statehouse/runtime";
import Koa from "koa";
import {
  type AuthenticateOptions,
  authenticate,
  authenticateAgain,
} from "./middleware/authenticate.ts";
import { type BodyOptions, body } from "./middleware/body.ts";
import { cors } from "./middleware/cors.ts";
import { errors } from "./middleware/errors.ts";
import { rateLimit } from "./middleware/rate-limit.ts";
import { representation } from "./middleware/representation.ts";
import { requestLog } from "./middleware/request-log.ts";
import { type RespondOptions, respond } from "./middleware/respond.ts";
import { noRoute, readablePath, routing } from "./middleware/routing.ts";
import type { RequestState } from "./middleware/state.ts";
import { trace } from "./middleware/trace.ts";
import type { Route } from "./route.ts";

export interface GatewayOptions extends RespondOptions, BodyOptions, AuthenticateOptions {
  routes: readonly Route[];
  logger: Logger;
  proxies: Proxies;
  /** Maximum number of requests per second for each token; 0 for no limit. */
  requestsPerSecond: number;
  /** The origins whose pages may call the API. */
  corsOrigins: readonly string[];
}

/** Creates the handler that serves the declared routes. The caller mounts it on a listener. */
export function createGateway(options: GatewayOptions): RequestListener {
  const { routes, edition, logger, proxies, corsOrigins, requestsPerSecond } = options;
  const app = new Koa<RequestState>();
  app.use(trace(proxies));
  app.use(requestLog(logger, proxies));
  if (corsOrigins.length > 0) app.use(cors(corsOrigins));
  app.use(errors(logger));
  app.use(rateLimit(requestsPerSecond));
  app.use(readablePath);
  app.use(
    routing(routes, edition, (route) => [
      authenticate(route, options),
      body(route, options),
      authenticateAgain(route, options),
      representation,
      respond(route, options),
    ]),
  );
  app.use(noRoute);
  const callback = app.callback();
  return (request: IncomingMessage, response: ServerResponse) => {
    callback(request, response).catch((error: unknown) => {
      logger.error({ err: error }, "response could not be written");
      response.destroy();
    });
  };
}
