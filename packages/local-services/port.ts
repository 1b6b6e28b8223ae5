import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { withRetry } from "@statehouse/runtime";
import type { ServerProcess } from "./server-process.ts";

/**
 * The ports of local services. They are below the ephemeral ports, so that an outgoing connection cannot take the port
 * of a service that is stopped.
 */
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
 * Starts a local service on the port `requested`, or on a free port if it is 0. Retries if another process takes the
 * free port first.
 */
export function onFreePort(
  requested: number,
  run: (port: number) => Promise<ServerProcess>,
): Promise<{ port: number; process: ServerProcess }> {
  // The first alternative matches the messages of MinIO and NATS, the second the message of PostgreSQL.
  const isRetryable = (error: unknown) =>
    error instanceof Error && /already in use|TCP\/IP sockets/i.test(error.message);
  return withRetry({ attempts: requested ? 1 : 5, isRetryable }, async () => {
    const port = requested || (await freePort());
    return { port, process: await run(port) };
  });
}
