import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import type { ServerProcess } from "./server-process.ts";

/** These ports are below the ephemeral ports: outgoing connections cannot take them while a service is stopped. */
const PARTS = { first: 15_000, end: 25_000 };

/**
 * Returns an unused TCP port of 127.0.0.1. Another process can take the port before the caller opens it; the caller
 * must then retry.
 */
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
 * Starts a local service on the given port, or on a free one for 0. Retries if another process takes the free port
 * first.
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
      // MinIO and NATS report the first text, PostgreSQL the second.
      const taken = error instanceof Error && /already in use|TCP\/IP sockets/i.test(error.message);
      if (!taken || wanted || attempt === 5) throw error;
    }
  }
}
