import { spawn } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { followProcess, sharedDependencies, temporaryFolder, waitFor } from "@statehouse/testing";
import { reservePort } from "../stack/port.ts";

/** The user and the group of PgBouncer, which refuses to run as root. */
const UNPRIVILEGED_ID = 65_534;

export interface PgBouncer extends AsyncDisposable {
  /** Returns the address of a database of the shared PostgreSQL through PgBouncer. */
  through(databaseUrl: string): string;
  output(): string;
}

/** Starts PgBouncer in front of the shared PostgreSQL, with the settings that docs/operations.md names. */
export async function startPgBouncer(pooling: "session" | "transaction"): Promise<PgBouncer> {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(await temporaryFolder()).path;
  const server = new URL(sharedDependencies().postgres.url);
  const port = await reservePort();
  const file = path.join(folder, "pgbouncer.ini");
  const login = `user=${server.username} password=${decodeURIComponent(server.password)}`;
  await writeFile(
    file,
    [
      "[databases]",
      `* = host=${server.hostname} port=${server.port} ${login}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = any",
      `pool_mode = ${pooling}`,
      // In transaction mode, the pool has fewer server connections than the services open, so that transactions share
      // them.
      `default_pool_size = ${pooling === "transaction" ? 3 : 20}`,
      "max_client_conn = 500",
      "",
    ].join("\n"),
  );
  await chmod(folder, 0o755);
  await chmod(file, 0o644);
  const asRoot = process.getuid?.() === 0;
  const child = spawn("pgbouncer", [file], {
    stdio: ["ignore", "pipe", "pipe"],
    ...(asRoot && { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID }),
  });
  const program = followProcess(child);
  starting.defer(async () => {
    child.kill("SIGKILL");
    await Promise.allSettled([program.exit]);
  });
  await waitFor(
    () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, "127.0.0.1", () => {
          socket.destroy();
          resolve(true);
        });
        socket.once("error", () => resolve(false));
      }),
    { what: "PgBouncer to listen", program },
  );
  const owned = starting.move();
  return {
    through(databaseUrl) {
      const url = new URL(databaseUrl);
      url.hostname = "127.0.0.1";
      url.port = String(port);
      return url.href;
    },
    output: program.output,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
