import {
  type ConnectionDeadlines,
  createHttpServer,
  drain,
  type Logger,
  listenOn,
} from "@statehouse/runtime";
import type { ObjectHandler } from "./handler.ts";

/** How long the server waits for transfers in progress when it stops. */
const DRAIN_MS = 20_000;

export interface ObjectServer extends AsyncDisposable {
  readonly port: number;
}

/**
 * Serves state bytes on a separate listener. With port 0 the system chooses a free port. Disposal waits for transfers
 * in progress. Throws `StartError` if the port is in use.
 */
export async function startObjectServer(options: {
  host: string;
  port: number;
  deadlines: ConnectionDeadlines;
  handler: ObjectHandler;
  logger: Logger;
}): Promise<ObjectServer> {
  const { host, port, deadlines, handler, logger } = options;
  const server = createHttpServer(deadlines, (request, response) => handler(request, response));
  server.on("checkContinue", (request, response) => handler(request, response, true));
  const opened = await listenOn(server, { host, port });
  server.on("error", (err) => logger.error({ err }, "the object server failed"));
  return { port: opened, [Symbol.asyncDispose]: () => drain(server, DRAIN_MS) };
}
