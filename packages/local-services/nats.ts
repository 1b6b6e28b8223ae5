import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { onFreePort } from "./port.ts";
import { programPath, startProcess } from "./server-process.ts";

/** A NATS server with JetStream that listens on 127.0.0.1. */
export interface Nats extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
  /** Starts the server again on the same port with its stored data. */
  start(): Promise<void>;
  kill(): Promise<void>;
}

export interface NatsOptions {
  dataDirectory: string;
  port?: number;
  /**
   * Makes the server a member of a cluster. `port` is its own cluster port, `routes` are those of the other members.
   */
  cluster?: { port: number; routes: readonly number[] };
}

/** Starts NATS with JetStream in `dataDirectory`; port 0 selects a free port. Throws StartError. */
export async function startNats(options: NatsOptions): Promise<Nats> {
  const binary = await programPath("nats-server");
  mkdirSync(options.dataDirectory, { recursive: true, mode: 0o700 });
  const logFile = path.join(options.dataDirectory, "nats.log");
  const name = `statehouse-${randomBytes(8).toString("hex")}`;
  const run = (port: number) =>
    startProcess({
      name: "NATS",
      command: binary,
      args: [
        "-a",
        "127.0.0.1",
        "-p",
        String(port),
        "-n",
        name,
        "-js",
        "-sd",
        options.dataDirectory,
        ...(options.cluster ? clustered(options.cluster) : []),
      ],
      logFile,
      // SIGTERM, because with SIGINT the server stops but exits with 1.
      stopSignal: "SIGTERM",
      ready: () => greets(port, name),
    });
  let { port, process } = await onFreePort(options.port ?? 0, run);
  const stop = () => process.stop();
  return {
    port,
    url: `nats://127.0.0.1:${port}`,
    stop,
    kill: () => process.kill(),
    start: async () => {
      if (!process.running) process = await run(port);
    },
    [Symbol.asyncDispose]: stop,
  };
}

const clustered = ({ port, routes }: NonNullable<NatsOptions["cluster"]>): string[] => [
  ...["--cluster_name", "statehouse", "--cluster", `nats://127.0.0.1:${port}`],
  ...["--routes", routes.map((route) => `nats://127.0.0.1:${route}`).join(",")],
];

/**
 * Returns whether this server is ready. NATS sends INFO as soon as it is; the name distinguishes this server from
 * another one on the same port.
 */
function greets(port: number, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const answer = (yes: boolean) => {
      socket.destroy();
      resolve(yes);
    };
    socket.setTimeout(1000, () => answer(false));
    socket.once("data", (data) => answer(data.toString().includes(`"${name}"`)));
    socket.once("error", () => answer(false));
    socket.once("close", () => answer(false));
  });
}
