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

/** A local service that can be stopped and started again. `Changes` are the options that a new start can change. */
export interface LocalServer<Changes = never> extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
  /** Starts the server again on the same port with its stored data, unless it runs. */
  start(changes?: Changes): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

/**
 * Starts a local service on the port `requested`, or on a free port if it is 0. Retries if another process takes the
 * free port first.
 */
export async function startOnPort<Changes = never>(
  requested: number,
  run: (port: number, changes?: Changes) => Promise<ServerProcess>,
): Promise<LocalServer<Changes>> {
  // The first alternative matches the messages of MinIO and NATS, the second the message of PostgreSQL.
  const isRetryable = (error: unknown) =>
    error instanceof Error && /already in use|TCP\/IP sockets/i.test(error.message);
  let port = requested;
  let process = await withRetry({ attempts: requested ? 1 : 5, isRetryable }, async () => {
    port = requested || (await freePort());
    return await run(port);
  });
  const stop = () => process.stop();
  return {
    port,
    get pid() {
      return process.pid;
    },
    stop,
    kill: () => process.kill(),
    start: async (changes) => {
      if (!process.running) process = await run(port, changes);
    },
    [Symbol.asyncDispose]: stop,
  };
}
