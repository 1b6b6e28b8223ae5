import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import type { PartProcess } from "./part-process.ts";

/** Below what systems give to outgoing connections: those would take a part's port while it is stopped. */
const PARTS = { first: 15_000, end: 25_000 };

/** A TCP port of 127.0.0.1 that nobody listens on. The taker retries if another process was quicker. */
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

/** Runs a part on the port asked for or, for 0, on a free one, trying others when somebody was quicker. */
export async function onFreePort(
  wanted: number,
  run: (port: number) => Promise<PartProcess>,
): Promise<{ port: number; process: PartProcess }> {
  for (let attempt = 1; ; attempt++) {
    const port = wanted || (await freePort());
    try {
      return { port, process: await run(port) };
    } catch (error) {
      // MinIO and NATS say the one, PostgreSQL the other.
      const taken = error instanceof Error && /already in use|TCP\/IP sockets/i.test(error.message);
      if (!taken || wanted || attempt === 5) throw error;
    }
  }
}
