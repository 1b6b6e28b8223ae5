import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Replica {
  port: number;
  opsPort: number;
}

/** A reverse proxy that distributes requests to the ready replicas and never repeats a request. */
export interface Balancer extends AsyncDisposable {
  readonly url: string;
  /** Adds replicas, which receive requests as soon as they are ready. */
  follow(...replicas: readonly Replica[]): void;
  /** Returns whether all replicas receive requests. */
  complete(): boolean;
}

/** Interval between two readiness probes of the replicas, in ms. */
const PROBE_MS = 100;

/** Starts a balancer without replicas. Like an ingress, it keeps its connections to replicas open between requests. */
export async function startBalancer(): Promise<Balancer> {
  const replicas: { port: number; opsPort: number; agent: Agent; ready: boolean }[] = [];
  let turn = 0;
  const fail = (response: ServerResponse, reason: string) => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end(reason);
  };
  const forward = (incoming: IncomingMessage, response: ServerResponse) => {
    const ready = replicas.filter((replica) => replica.ready);
    const replica = ready[turn++ % ready.length];
    if (!replica) {
      fail(response, "no replica is ready");
      return;
    }
    const { port, agent } = replica;
    const { method, url: path, headers } = incoming;
    const outgoing = request(
      { host: "127.0.0.1", port, agent, method, path, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, {
          ...answer.headers,
          connection: "keep-alive",
        });
        answer.pipe(response);
        answer.on("error", () => response.destroy());
      },
    );
    outgoing.on("error", (error) => fail(response, `${port}: ${error.message}`));
    incoming.pipe(outgoing);
  };
  const server = createServer(forward);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const probe = async () => {
    for (const replica of replicas) {
      const answer = await fetch(`http://127.0.0.1:${replica.opsPort}/readyz`).catch(
        () => undefined,
      );
      replica.ready = answer?.ok === true;
      await answer?.arrayBuffer();
    }
  };
  const probes = setInterval(() => void probe(), PROBE_MS);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    follow(...followed) {
      for (const replica of followed) {
        replicas.push({ ...replica, agent: new Agent({ keepAlive: true }), ready: false });
      }
    },
    complete: () => replicas.every(({ ready }) => ready),
    async [Symbol.asyncDispose]() {
      clearInterval(probes);
      for (const { agent } of replicas) agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
