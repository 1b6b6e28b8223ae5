import { createServer } from "node:net";
import type { PartProcess } from "./part-process.ts";

const given = new Set<number>();

/** A free TCP port of 127.0.0.1, never the same twice in this process. The taker retries if another process was quicker. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await askSystem();
    if (given.has(port)) continue;
    given.add(port);
    return port;
  }
}

function askSystem(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

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
