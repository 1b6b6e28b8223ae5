import type { IncomingMessage, ServerResponse } from "node:http";
import { type ConnectionDeadlines, createHttpServer, drain, listenOn } from "@statehouse/runtime";

/** Handles a request. `awaitsContinue`: the client sends its body only after a 100 response. */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  awaitsContinue: boolean,
) => void;

/**
 * The port of standalone for clients. It is opened before the services start, so that a port in use is detected
 * immediately.
 */
export interface Listener extends AsyncDisposable {
  readonly port: number;
  /** Base address for clients on the same machine. */
  readonly url: string;
  /** Passes requests to `handler` from now on. Before this call the response is 503. */
  serve(handler: Handler): void;
}

/** How long requests in progress may continue after the server begins to stop, in ms. */
const DRAIN_MS = 10_000;

const notReady: Handler = (_, response) => {
  response.writeHead(503, {
    "content-type": "application/vnd.api+json",
    "x-content-type-options": "nosniff",
    "retry-after": "1",
  });
  response.end(
    '{"errors":[{"status":"503","code":"starting","title":"starting","detail":"The service is starting."}]}',
  );
};

/** Opens the port; 0 selects a free one. Throws StartError. */
export async function listen(
  host: string,
  port: number,
  deadlines: ConnectionDeadlines,
): Promise<Listener> {
  let handler = notReady;
  const server = createHttpServer(deadlines, (request, response) =>
    handler(request, response, false),
  );
  server.on("checkContinue", (request, response) => handler(request, response, true));
  const bound = await listenOn(server, { host, port }, (error) => whyNot(host, port, error));
  const local = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return {
    port: bound,
    url: `http://${local.includes(":") ? `[${local}]` : local}:${bound}`,
    serve: (next) => {
      handler = next;
    },
    [Symbol.asyncDispose]: () => drain(server, DRAIN_MS),
  };
}

const whyNot = (host: string, port: number, error: Error): string => {
  const code = Reflect.get(error, "code");
  if (code === "EADDRINUSE") {
    return `Port ${port} of ${host} is taken; stop what uses it, or set PORT to another (0: any free one).`;
  }
  if (code === "EACCES")
    return `Port ${port} of ${host} may not be opened by this user; set PORT to another.`;
  return `Cannot listen on ${host}:${port} (${code ?? error.message}); set HOST and PORT.`;
};
