import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client, escapeIdentifier } from "pg";
import { claim } from "./owner.ts";
import { onFreePort } from "./port.ts";
import { type Cluster, openCluster, superuser } from "./postgres-cluster.ts";
import { clearLeftover } from "./postgres-leftover.ts";
import { type ServerProcess, startProcess } from "./server-process.ts";

export interface PostgresOptions {
  /** The folder contains the cluster, its password and its log. */
  dataDirectory: string;
  /** 0, the default: any free port. */
  port?: number;
  /** Path of PostgreSQL's log; the default is `postgres.log` in the data directory. */
  log?: string;
  /** For tests: durability across a machine crash is not needed. */
  fast?: boolean;
  /** Parameters of the server, which replace others. */
  settings?: Record<string, string>;
}

/** A PostgreSQL server that listens on 127.0.0.1. */
export interface Postgres extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  /** Resolves when the server has exited for any reason. */
  readonly exited: Promise<void>;
  /** Address of one database, with user and password. */
  url(database: string): string;
  /** Creates those of the databases that are missing. */
  createDatabases(names: readonly string[]): Promise<void>;
  stop(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  kill(): Promise<void>;
}

const always = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  // Three services keep up to 20 connections each; the default of 100 is too few for two stacks, as in the bench.
  max_connections: "200",
  logging_collector: "off",
  log_line_prefix: "%m [%p] %d ",
};

// A crash of the machine may lose data, but SIGKILL of the server may not: commits still wait for the write. The
// number of connections is enough for several stacks of four services each.
const fastSettings = {
  fsync: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_connections: "500",
};

/** Starts PostgreSQL on its own folder, created at the first start. Throws StartError. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const dataDirectory = path.resolve(options.dataDirectory);
  const cluster = openCluster(dataDirectory, options.fast ?? false);
  const run = async (port: number) => {
    await clearLeftover(dataDirectory, cluster.folder);
    const process = await afterOrphans(() =>
      startServer(cluster, port, {
        log: options.log ?? path.join(dataDirectory, "postgres.log"),
        settings: { ...always, ...(options.fast ? fastSettings : {}), ...options.settings },
      }),
    );
    claim(dataDirectory);
    return process;
  };
  let { port, process } = await onFreePort(options.port ?? 0, run);
  const url = (database: string) =>
    `postgresql://${superuser}:${cluster.password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  const stop = () => process.stop();
  return {
    port,
    get pid() {
      return process.pid;
    },
    get exited() {
      return process.exited;
    },
    url,
    createDatabases: (names) => createDatabases(url("postgres"), names),
    stop,
    kill: () => process.kill(),
    start: async () => {
      if (!process.running) process = await run(port);
    },
    [Symbol.asyncDispose]: stop,
  };
}

function startServer(
  cluster: Cluster,
  port: number,
  { log, settings }: { log: string; settings: Record<string, string> },
) {
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return startProcess({
    name: "PostgreSQL",
    command: cluster.binaries.postgres,
    args: ["-D", cluster.asSeen, "-p", String(port), ...flags],
    env: { PATH: process.env.PATH ?? "", LC_ALL: "C" },
    cwd: cluster.folder,
    user: cluster.user,
    logFile: log,
    // Fast shutdown: sessions are ended and everything is written. SIGTERM would wait for the sessions.
    stopSignal: "SIGINT",
    stopTimeoutMs: 60_000,
    // Long enough to replay the log after a crash.
    startTimeoutMs: 300_000,
    ready: (pid) => isReady(cluster.folder, pid),
  });
}

/** Sessions of a killed postmaster exit within moments; until then a new one cannot start. */
async function afterOrphans(start: () => Promise<ServerProcess>): Promise<ServerProcess> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      // The cause: the server's own error, or the last lines of a session that has just exited, which are in the same
      // log.
      const orphans =
        error instanceof Error &&
        /shared memory block|unexpected postmaster exit/.test(error.message);
      if (!orphans || attempt === 50) throw error;
      await pause(200);
    }
  }
}

/** The eighth line of postmaster.pid, which pg_ctl also waits for. */
function isReady(folder: string, pid: number): boolean {
  try {
    const lines = readFileSync(path.join(folder, "postmaster.pid"), "utf8").split("\n");
    return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
  } catch {
    return false;
  }
}

async function createDatabases(url: string, names: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>("SELECT datname FROM pg_database");
    const present = new Set(rows.map(({ datname }) => datname));
    for (const name of names) {
      if (!present.has(name)) await client.query(`CREATE DATABASE ${escapeIdentifier(name)}`);
    }
  } finally {
    await client.end();
  }
}
