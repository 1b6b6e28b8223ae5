import { createServer } from "node:http";
import { drain, type Logger, listenOn } from "@statehouse/runtime";
import type { ObjectHandler } from "./handler.ts";

/** Longer than an ingress keeps its connections, so that this side never closes one that is in use. */
const KEEP_ALIVE_MS = 75_000;
/** How long transfers in progress may take to end when the server stops. */
const DRAIN_MS = 20_000;

export interface ObjectServer extends AsyncDisposable {
  readonly port: number;
}

/**
 * Serves state bytes on a separate listener; port 0 takes any free one. Disposal waits for transfers in progress.
 * Throws `StartError` if the port is in use.
 */
export async function startObjectServer(options: {
  host: string;
  port: number;
  handler: ObjectHandler;
  logger: Logger;
}): Promise<ObjectServer> {
  const { host, port, handler, logger } = options;
  // The whole request has no time limit: a large state on a slow connection is permitted while it makes progress.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS }, (req, res) =>
    handler(req, res),
  );
  server.on("checkContinue", (request, response) => handler(request, response, true));
  const opened = await listenOn(server, { host, port });
  server.on("error", (err) => logger.error({ err }, "the object server failed"));
  return { port: opened, [Symbol.asyncDispose]: () => drain(server, DRAIN_MS) };
}
