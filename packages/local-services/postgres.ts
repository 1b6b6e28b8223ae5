import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { withRetry } from "@statehouse/runtime";
import { Client, escapeIdentifier, escapeLiteral } from "pg";
import { claim } from "./owner.ts";
import { type LocalServer, startOnPort } from "./port.ts";
import { openCluster, superuser } from "./postgres-cluster.ts";
import { clearLeftover } from "./postgres-leftover.ts";
import { type ServerProcess, startProcess } from "./server-process.ts";

export interface PostgresOptions {
  /** The folder that contains the cluster, its password and its log. */
  dataDirectory: string;
  /** The port; 0, the default, selects a free port. */
  port?: number;
  /** Path of PostgreSQL's log; by default `postgres.log` in the data directory. */
  log?: string;
  /** For tests: faster, but a crash of the machine can lose data. */
  fast?: boolean;
  /** Server parameters, which override the defaults. */
  settings?: Record<string, string>;
}

/** A PostgreSQL server that listens on 127.0.0.1. */
export interface Postgres extends LocalServer {
  /** Returns the URL of one database, with the user and password of the superuser. */
  url(database: string): string;
  /** Creates those of the named databases that do not exist. */
  createDatabases(names: readonly string[]): Promise<void>;
  /**
   * Creates the user if it does not exist, sets a new password for it, and makes it the only user besides the superuser
   * that may connect to the database. Returns the URL of the database for this user.
   */
  admit(user: string, database: string): Promise<string>;
}

const always = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  // Three services keep up to 20 connections each. The default limit of 100 is too low for two sets of services, as in
  // the benchmarks.
  max_connections: "200",
  logging_collector: "off",
  log_line_prefix: "%m [%p] %d ",
};

// With these settings a crash of the machine can lose data, but SIGKILL of the server cannot: commits still wait until
// the data is written to the operating system. The connection limit suffices for several sets of four services.
const fastSettings = {
  fsync: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_connections: "500",
};

/** Starts PostgreSQL on its own folder, which the first start creates. Throws StartError. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const dataDirectory = path.resolve(options.dataDirectory);
  const cluster = openCluster(dataDirectory, options.fast ?? false);
  const settings = { ...always, ...(options.fast ? fastSettings : {}), ...options.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const run = async (port: number) => {
    await clearLeftover(dataDirectory, cluster.folder);
    const started = await afterOrphans(() =>
      startProcess({
        name: "PostgreSQL",
        command: cluster.binaries.postgres,
        args: ["-D", cluster.asSeen, "-p", String(port), ...flags],
        env: { PATH: process.env.PATH ?? "", LC_ALL: "C" },
        cwd: cluster.folder,
        user: cluster.user,
        logFile: options.log ?? path.join(dataDirectory, "postgres.log"),
        // SIGINT is a fast shutdown: PostgreSQL ends sessions and writes all data. SIGTERM would wait for the sessions
        // to end.
        stopSignal: "SIGINT",
        stopTimeoutMs: 60_000,
        // This is long enough to replay the write-ahead log after a crash.
        startTimeoutMs: 300_000,
        ready: (pid) => isReady(cluster.folder, pid),
      }),
    );
    claim(dataDirectory);
    return started;
  };
  const server = await startOnPort(options.port ?? 0, run);
  const urlFor = (user: string, password: string, database: string) =>
    `postgresql://${user}:${password}@127.0.0.1:${server.port}/${encodeURIComponent(database)}`;
  const url = (database: string) => urlFor(superuser, cluster.password, database);
  return {
    ...server,
    get pid() {
      return server.pid;
    },
    url,
    createDatabases: (names) => connected(url("postgres"), (client) => createAll(client, names)),
    admit: async (user, database) => {
      const password = randomBytes(24).toString("base64url");
      await connected(url("postgres"), (client) => admit(client, { user, password, database }));
      return urlFor(user, password, database);
    },
  };
}

/**
 * Starts PostgreSQL and retries while sessions of a killed postmaster still run. They exit within moments, but block a
 * new postmaster until then.
 */
function afterOrphans(start: () => Promise<ServerProcess>): Promise<ServerProcess> {
  // The message is either the server's own error or the last log lines of a session that has just exited: both write to
  // the same log.
  const isRetryable = (error: unknown) =>
    error instanceof Error && /shared memory block|unexpected postmaster exit/.test(error.message);
  return withRetry({ attempts: 50, isRetryable, pauseMs: () => 200 }, start);
}

/** Returns whether the server is ready according to the eighth line of `postmaster.pid`, which `pg_ctl` also checks. */
function isReady(folder: string, pid: number): boolean {
  try {
    const lines = readFileSync(path.join(folder, "postmaster.pid"), "utf8").split("\n");
    return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
  } catch {
    return false;
  }
}

async function connected(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function createAll(client: Client, names: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ datname: string }>("SELECT datname FROM pg_database");
  const present = new Set(rows.map(({ datname }) => datname));
  for (const name of names) {
    if (!present.has(name)) await client.query(`CREATE DATABASE ${escapeIdentifier(name)}`);
  }
}

async function admit(
  client: Client,
  { user, password, database }: { user: string; password: string; database: string },
): Promise<void> {
  const [role, target] = [escapeIdentifier(user), escapeIdentifier(database)];
  const { rowCount } = await client.query("SELECT FROM pg_roles WHERE rolname = $1", [user]);
  // Without this setting, the server would write a failed statement to its log, including the password.
  await client.query("SET log_min_error_statement = panic");
  await client.query(
    `${rowCount === 0 ? "CREATE" : "ALTER"} ROLE ${role} LOGIN PASSWORD ${escapeLiteral(password)}`,
  );
  await client.query(`REVOKE ALL ON DATABASE postgres, ${target} FROM PUBLIC`);
  await client.query(`GRANT CONNECT ON DATABASE ${target} TO ${role}`);
}
