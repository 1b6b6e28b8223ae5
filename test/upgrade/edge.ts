// The public address in front of the Services: sends `/v1/object/` to the state service and everything else to the
// gateway. Imports only modules of Node, so that it also runs as `node edge.ts GATEWAY OBJECTS PORT` in a pod of the
// image.
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";

/** The addresses of two Services: that of the gateway, and that of the state service for objects. */
export interface Targets {
  gateway: string;
  objects: string;
}

/** Maximum number of connections that the proxy opens for one request. */
const CONNECTIONS = 20;

/**
 * Time in ms after which the proxy closes an idle connection. It is shorter than DRAIN_SECONDS, as docs/operations.md
 * requires: a stopping replica never closes a connection that the proxy is about to use.
 */
const IDLE_MS = 4000;

/**
 * Starts a proxy that keeps its connections open between requests, as an ingress does. If a connection cannot be
 * established, the proxy has sent nothing of the request and opens another connection. It never sends a request twice.
 */
export async function startEdge(
  targets: Targets,
  { host = "127.0.0.1", port = 0 }: { host?: string; port?: number } = {},
): Promise<AsyncDisposable & { url: string }> {
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  const forward = (incoming: IncomingMessage, response: ServerResponse, connections = 1) => {
    const { method, url = "/", headers } = incoming;
    const target = url.startsWith("/v1/object/") ? targets.objects : targets.gateway;
    const outgoing = request(new URL(url, target), { agent, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    let connected = false;
    const send = () => {
      connected = true;
      incoming.pipe(outgoing);
    };
    outgoing.on("socket", (socket) => {
      if (socket.connecting) socket.once("connect", send);
      else send();
    });
    outgoing.on("error", (error) => {
      if (!connected && connections < CONNECTIONS) {
        setTimeout(() => forward(incoming, response, connections + 1), 50);
        return;
      }
      // Discards the rest of the request's body. Otherwise it would stay in front of the connection's next request, which
      // would never be read.
      incoming.unpipe(outgoing);
      incoming.resume();
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end(`edge: ${error.message}`);
    });
    response.once("close", () => outgoing.destroy());
  };
  const server = createServer((incoming, response) => forward(incoming, response));
  // The timeout is long, so that clients close idle connections first. If the proxy closed a connection while a client
  // begins to use it, the client would see an error of this proxy.
  server.keepAliveTimeout = 600_000;
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

if (import.meta.main) {
  const [gateway = "", objects = "", port = ""] = process.argv.slice(2);
  await startEdge({ gateway, objects }, { host: "0.0.0.0", port: Number(port) });
  process.once("SIGTERM", () => process.exit());
}
