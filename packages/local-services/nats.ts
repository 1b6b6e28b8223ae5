import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { type LocalServer, startOnPort } from "./port.ts";
import { programPath, startProcess } from "./server-process.ts";

/** A NATS server with JetStream that listens on 127.0.0.1. */
export interface Nats extends LocalServer<Pick<NatsOptions, "login">> {
  readonly url: string;
  /** The only user that the server accepts, if it has users. */
  readonly login: NatsOptions["login"];
  /** Replaces `NatsOptions.configuration` without a restart. The server disconnects users that it no longer accepts. */
  reload(configuration: string): void;
}

export interface NatsOptions {
  dataDirectory: string;
  port?: number;
  /** The only user that the server accepts. Default: a server without users, which any client may use. */
  login?: { user: string; password: string };
  /** If false, the server has no streams. */
  jetstream?: boolean;
  /** Lines of the server's configuration file, for tests of other logins and of TLS. */
  configuration?: string;
  /**
   * Makes the server a member of a cluster: `port` is its own cluster port, and `routes` are the cluster ports of the
   * members.
   */
  cluster?: { port: number; routes: readonly number[] };
}

/** Starts NATS with JetStream in `dataDirectory`; port 0 selects a free port. Throws StartError. */
export async function startNats(options: NatsOptions): Promise<Nats> {
  const binary = await programPath("nats-server");
  mkdirSync(options.dataDirectory, { recursive: true, mode: 0o700 });
  const logFile = path.join(options.dataDirectory, "nats.log");
  const name = `statehouse-${randomBytes(8).toString("hex")}`;
  const file = path.join(options.dataDirectory, "nats.conf");
  const configure = (configured: NatsOptions) => {
    // An existing file is deleted first, because it would keep its mode, and the file contains the password.
    rmSync(file, { force: true });
    writeFileSync(file, configurationOf(configured), { mode: 0o600 });
  };
  let { login } = options;
  configure(options);
  const run = (port: number, changes?: Pick<NatsOptions, "login">) => {
    if (changes) {
      configure({ ...options, ...changes });
      login = changes.login;
    }
    return startProcess({
      name: "NATS",
      command: binary,
      args: [
        "-a",
        "127.0.0.1",
        "-p",
        String(port),
        "-n",
        name,
        "-c",
        file,
        ...(options.cluster ? clustered(options.cluster) : []),
      ],
      logFile,
      // SIGTERM is used, because with SIGINT the server stops but exits with 1.
      stopSignal: "SIGTERM",
      ready: () => greets(port, name),
    });
  };
  const server = await startOnPort(options.port ?? 0, run);
  return {
    ...server,
    get pid() {
      return server.pid;
    },
    url: `nats://127.0.0.1:${server.port}`,
    get login() {
      return login;
    },
    reload(configuration) {
      configure({ ...options, configuration });
      process.kill(server.pid, "SIGHUP");
    },
  };
}

/** Returns the configuration file as JSON, which is valid in the server's format. */
function configurationOf(options: NatsOptions): string {
  const { dataDirectory, login, jetstream = true, configuration } = options;
  // With `sync_interval: always`, the server writes each message to the disk before it acknowledges the message. By
  // default it does so up to two minutes later.
  const streams = { store_dir: dataDirectory, sync_interval: "always" };
  const lines = [
    ...(jetstream ? [`jetstream ${JSON.stringify(streams)}`] : []),
    ...(login ? [`authorization ${JSON.stringify(login)}`] : []),
    ...(configuration ? [configuration] : []),
  ];
  return `${lines.join("\n")}\n`;
}

const clustered = ({ port, routes }: NonNullable<NatsOptions["cluster"]>): string[] => [
  ...["--cluster_name", "statehouse", "--cluster", `nats://127.0.0.1:${port}`],
  ...["--routes", routes.map((route) => `nats://127.0.0.1:${route}`).join(",")],
];

/**
 * Returns whether this server is ready. NATS sends INFO as soon as it is ready; the name distinguishes this server from
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
