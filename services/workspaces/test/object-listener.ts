import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Starts a server at the public address of the upload URLs that the state service returns. By default it refuses all
 * requests with 503.
 */
export async function objectListener() {
  let handler: RequestListener = (_request, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => handler(request, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (next: RequestListener) => {
      handler = next;
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
