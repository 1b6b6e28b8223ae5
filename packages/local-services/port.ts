import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import type { ServerProcess } from "./server-process.ts";

/** Below the ephemeral ports, which outgoing connections could take while the service is stopped. */
const PARTS = { first: 15_000, end: 25_000 };

/** An unused TCP port of 127.0.0.1. The caller retries if another process takes it first. */
export async function freePort({ first, end } = PARTS): Promise<number> {
  for (;;) {
    const port = randomInt(first, end);
    if (await isFree(port)) return port;
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

/**
 * Starts a local service on the given port or, for 0, on a free one; retries if another process takes the port first.
 */
export async function onFreePort(
  wanted: number,
  run: (port: number) => Promise<ServerProcess>,
): Promise<{ port: number; process: ServerProcess }> {
  for (let attempt = 1; ; attempt++) {
    const port = wanted || (await freePort());
    try {
      return { port, process: await run(port) };
    } catch (error) {
      // The first is the message of MinIO and NATS, the second that of PostgreSQL.
      const taken = error instanceof Error && /already in use|TCP\/IP sockets/i.test(error.message);
      if (!taken || wanted || attempt === 5) throw error;
    }
  }
}
