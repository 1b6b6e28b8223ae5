import type { Server } from "node:http";
import { StartError } from "./lifecycle.ts";

/** The reason why a port could not be opened, as one sentence. */
type Explain = (error: Error) => string;

/** Opens `port` (0: any free one) and returns its number. Throws `StartError` with the text of `explain`. */
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

/** Accepts no new request, lets requests in progress end, and closes those that last longer than `drainMs`. */
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
