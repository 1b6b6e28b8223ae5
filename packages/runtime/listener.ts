import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { StartError } from "./lifecycle.ts";
import { limitPerTurn } from "./turns.ts";

/**
 * Time in ms for which an idle connection stays open. It is longer than the 60 s for which an ingress usually keeps
 * idle connections, so that this server never closes a connection that the ingress is about to use.
 */
const KEEP_ALIVE_MS = 75_000;
/** The maximum time between two checks of the headers' deadline, in ms. */
const CHECK_MS = 10_000;

/** Interval in ms at which a closing port closes idle connections. */
const CLOSE_IDLE_MS = 100;

/**
 * The maximum number of requests that begin in one turn of the event loop. Other work can therefore run between them
 * even if a thousand connections send a request in the same turn.
 */
const BEGUN_PER_TURN = 32;

/** Time limits of a listener's connections, in ms. */
export interface ConnectionDeadlines {
  /**
   * Time limit for receiving the headers of a request. For the first request of a connection, the time begins when the
   * connection is opened; for a later request, with the first byte of the request.
   */
  headersMs: number;
  /** Time without data after which a connection is closed. */
  idleMs: number;
}

/** Handles a request. `awaitsContinue`: the client sends its body only after a 100 response. */
export type HttpHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  awaitsContinue: boolean,
) => void;

export interface HttpPortOptions {
  host: string;
  /** 0 selects a free port. */
  port: number;
  deadlines: ConnectionDeadlines;
  handler: HttpHandler;
  /** After this signal is aborted, each connection is closed with its next response. */
  stopping: AbortSignal;
  /**
   * How long the port stays open after `stopping` is aborted, in ms. Clients receive it as the minimum time for which
   * an idle connection stays open (RFC 2068, section 19.7.1.1, `Keep-Alive: timeout`). A client that honours
   * Keep-Alive sends no request on a connection that the closing port is about to close.
   */
  drainMs?: number;
  /** How long requests in progress may continue after the port is closed, in ms. */
  shutdownMs: number;
  explain?: Explain;
}

/**
 * Disposal closes the port, waits for requests in progress, and closes the connections of requests that are not
 * finished within `shutdownMs`.
 */
export interface HttpPort extends AsyncDisposable {
  readonly port: number;
}

/**
 * Opens a port that closes connections whose headers arrive late or that carry no data for too long. A request as a
 * whole has no deadline, because a large state on a slow connection takes long; `limitReceiving` limits the time for
 * bodies. Throws a `StartError` if the port cannot be opened.
 */
export async function openHttpPort(options: HttpPortOptions): Promise<HttpPort> {
  const { deadlines, handler, stopping, drainMs, shutdownMs } = options;
  const keepAliveMs = Math.min(drainMs || KEEP_ALIVE_MS, KEEP_ALIVE_MS);
  const unanswered = new Set<ServerResponse>();
  const inTurn = limitPerTurn(BEGUN_PER_TURN);
  const serve = (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) => {
    unanswered.add(response);
    response.once("close", () => unanswered.delete(response));
    if (stopping.aborted) response.setHeader("connection", "close");
    inTurn(() => handler(request, response, awaitsContinue));
  };
  stopping.addEventListener("abort", () => {
    for (const response of unanswered) {
      if (!response.headersSent) response.setHeader("connection", "close");
    }
  });
  const server = createServer(
    {
      requestTimeout: 0,
      // This limit is set explicitly, because the default is 0 if `requestTimeout` is 0.
      headersTimeout: deadlines.headersMs,
      connectionsCheckingInterval: Math.min(deadlines.headersMs / 2, CHECK_MS),
      keepAliveTimeout: keepAliveMs,
      keepAliveTimeoutBuffer: KEEP_ALIVE_MS - keepAliveMs,
    },
    (request, response) => serve(request, response, false),
  );
  server.on("checkContinue", (request, response) => serve(request, response, true));
  server.timeout = deadlines.idleMs;
  const port = await listenOn(server, options, options.explain);
  let closed: Promise<void> | undefined;
  return {
    port,
    [Symbol.asyncDispose]() {
      closed ??= close(server, shutdownMs);
      return closed;
    },
  };
}

function close(server: Server, shutdownMs: number): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), shutdownMs);
    // If the response on a connection began before the service stopped, the connection becomes idle only after that
    // response.
    const closeIdle = () => afterReading(() => server.closeIdleConnections());
    const idle = setInterval(closeIdle, CLOSE_IDLE_MS);
    // `server.close` also closes idle connections.
    const closePort = () =>
      server.close(() => {
        clearTimeout(late);
        clearInterval(idle);
        resolve();
      });
    afterReading(closePort);
  });
}

/**
 * Runs `work` after all data that has arrived so far has been read. In a busy process, the next request of a connection
 * can have arrived without being read. Node treats such a connection as idle, and that request would fail if the
 * connection were closed.
 */
function afterReading(work: () => void): void {
  // Node reads from connections between the first callback and the second.
  setImmediate(() => setImmediate(work));
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
