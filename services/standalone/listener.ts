import { type ConnectionDeadlines, type HttpHandler, openHttpPort } from "@statehouse/runtime";

/**
 * The port of standalone for clients. It is opened before the services start, so that a port in use is detected
 * immediately.
 */
export interface Listener extends AsyncDisposable {
  readonly port: number;
  /** Base address for clients on the same machine. */
  readonly url: string;
  /** Passes requests to `handler` from now on. Before this call the response is 503. */
  serve(handler: HttpHandler): void;
}

/** How long requests in progress may continue after the server begins to stop, in ms. */
const SHUTDOWN_MS = 10_000;

const notReady: HttpHandler = (_, response) => {
  response.writeHead(503, {
    "content-type": "application/vnd.api+json",
    "x-content-type-options": "nosniff",
    "retry-after": "1",
  });
  response.end(
    '{"errors":[{"status":"503","code":"starting","title":"starting","detail":"The service is starting."}]}',
  );
};

/** Opens the port; 0 selects a free one. Throws `StartError`. */
export async function listen(
  host: string,
  port: number,
  deadlines: ConnectionDeadlines,
): Promise<Listener> {
  let handler = notReady;
  const stopping = new AbortController();
  const opened = await openHttpPort({
    host,
    port,
    deadlines,
    handler: (request, response, awaitsContinue) => handler(request, response, awaitsContinue),
    stopping: stopping.signal,
    shutdownMs: SHUTDOWN_MS,
    explain: (error) => whyNot(host, port, error),
  });
  const local = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return {
    port: opened.port,
    url: `http://${local.includes(":") ? `[${local}]` : local}:${opened.port}`,
    serve: (next) => {
      handler = next;
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await opened[Symbol.asyncDispose]();
    },
  };
}

const whyNot = (host: string, port: number, error: Error): string => {
  const code = Reflect.get(error, "code");
  if (code === "EADDRINUSE") {
    return `Port ${port} of ${host} is in use; stop the program that uses it, or set PORT to another port (0 selects a free one).`;
  }
  if (code === "EACCES")
    return `This user is not allowed to open port ${port} of ${host}; set PORT to another port.`;
  return `Cannot listen on ${host}:${port} (${code ?? error.message}); set HOST and PORT.`;
};
