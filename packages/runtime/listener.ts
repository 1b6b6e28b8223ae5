import { createServer, type RequestListener, type Server } from "node:http";
import { StartError } from "./lifecycle.ts";

/**
 * Time for which an idle connection stays open. Longer than an ingress keeps it, so that this server never closes a
 * connection that the ingress is about to use.
 */
const KEEP_ALIVE_MS = 75_000;
/** The maximum time between two checks of the headers' deadline, in ms. */
const CHECK_MS = 10_000;

/** Time limits of a listener's connections, in ms. */
export interface ConnectionDeadlines {
  /** Time limit for the headers of a request, from its first byte or from the opening of the connection. */
  headersMs: number;
  /** Time without data after which a connection is closed. */
  idleMs: number;
}

/**
 * Creates a server that closes connections whose headers arrive late or that carry no data for too long. A request as a
 * whole has no deadline, because a large state on a slow connection takes long; `limitReceiving` limits the time for
 * bodies.
 */
export function createHttpServer(
  { headersMs, idleMs }: ConnectionDeadlines,
  handler: RequestListener,
): Server {
  const server = createServer(
    {
      requestTimeout: 0,
      // Set explicitly, because its default is 0 if `requestTimeout` is 0.
      headersTimeout: headersMs,
      connectionsCheckingInterval: Math.min(headersMs / 2, CHECK_MS),
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    handler,
  );
  server.timeout = idleMs;
  return server;
}

/** Returns the reason why a port could not be opened, as one sentence. */
type Explain = (error: Error) => string;

/**
 * Opens `port` (0 selects a free one) and returns its number. Throws a `StartError` with the text that `explain`
 * returns.
 */
export function listenOn(
  server: Server,
  { host, port }: { host: string; port: number },
  explain: Explain = (error) => `Cannot listen on ${host}:${port}: ${error.message}`,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(new StartError(explain(error))));
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}

/**
 * Stops accepting requests, waits until requests in progress end, and after `drainMs` closes the connections of those
 * that remain.
 */
export function drain(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearTimeout(late);
      resolve();
    });
    server.closeIdleConnections();
  });
}
