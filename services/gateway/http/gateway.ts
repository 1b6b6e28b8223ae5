import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Logger } from "@statehouse/runtime";
import Koa from "koa";
import type { Authenticate } from "./authentication.ts";
import { authenticate, authenticateAgain } from "./middleware/authenticate.ts";
import { type BodyOptions, body } from "./middleware/body.ts";
import { errors } from "./middleware/errors.ts";
import { requestLog } from "./middleware/request-log.ts";
import { type RespondOptions, respond } from "./middleware/respond.ts";
import { noRoute, readablePath, routing } from "./middleware/routing.ts";
import type { RequestState } from "./middleware/state.ts";
import { trace } from "./middleware/trace.ts";
import type { Proxies } from "./proxies.ts";
import type { Route } from "./route.ts";

export interface GatewayOptions extends RespondOptions, BodyOptions {
  routes: readonly Route[];
  authenticate: Authenticate;
  logger: Logger;
  proxies: Proxies;
}

/** Creates the handler that serves the declared routes. The caller mounts it on a listener. */
export function createGateway(options: GatewayOptions): RequestListener {
  const { routes, edition, logger, proxies, requestTimeoutMs } = options;
  const app = new Koa<RequestState>();
  app.use(trace(proxies));
  app.use(requestLog(logger, proxies));
  app.use(errors(logger));
  app.use(readablePath);
  app.use(
    routing(routes, edition, (route) => [
      authenticate(route, options.authenticate, requestTimeoutMs),
      body(route, options),
      authenticateAgain(route, options.authenticate, requestTimeoutMs),
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
