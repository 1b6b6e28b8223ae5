import { writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startMinio, startNats, startPostgres } from "@statehouse/local-services";
import { newAuthority, temporaryFolder } from "@statehouse/testing";

/** The addresses of the stores, which pods and this machine can reach, and the credentials for them. */
export interface Stores {
  /** A URL without a database name, for a user who may create databases. */
  postgres: string;
  nats: {
    url: string;
    user: string;
    password: string;
    /** The certificate, as PEM, of the authority that signed the certificate of NATS. */
    ca?: string | undefined;
  };
  s3: { endpoint: string; accessKey: string; secretKey: string };
}

/** Stores on this machine. */
export interface OwnStores extends Stores, AsyncDisposable {
  /** Stops PostgreSQL and starts it again after `ms`. */
  restartPostgres(ms: number): Promise<void>;
}

/** Starts PostgreSQL, NATS with accounts and TLS, and MinIO on this machine, reachable at `address`. */
export async function startStores(address: string): Promise<OwnStores> {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(await temporaryFolder()).path;
  const user = "statehouse";
  const password = "of-the-bus";
  const postgres = starting.use(
    await startPostgres({ dataDirectory: path.join(folder, "postgres"), fast: true }),
  );
  const authority = await newAuthority();
  // A NATS client that connects to an IP address expects a certificate for the name localhost.
  const { certificate, privateKey } = await authority.issue(address, "localhost");
  const [certFile, keyFile] = [path.join(folder, "nats.crt"), path.join(folder, "nats.key")];
  await writeFile(certFile, certificate);
  await writeFile(keyFile, privateKey, { mode: 0o600 });
  const accounts = {
    STATEHOUSE: { jetstream: "enabled", users: [{ user, password }] },
    OTHER: { users: [{ user: "other", password }] },
  };
  const configuration = `tls ${JSON.stringify({ cert_file: certFile, key_file: keyFile })}
accounts ${JSON.stringify(accounts)}`;
  const nats = starting.use(
    await startNats({ dataDirectory: path.join(folder, "nats"), configuration }),
  );
  const minio = starting.use(await startMinio({ dataDirectory: path.join(folder, "minio") }));
  // The servers listen on the loopback interface, which pods cannot reach.
  const at = async (local: number, port: number) => {
    starting.use(await forwarded(address, port, local));
    return `${address}:${port}`;
  };
  const database = new URL(postgres.url(""));
  database.host = await at(postgres.port, 5432);
  const natsAddress = await at(nats.port, 4222);
  const s3Address = await at(minio.port, 9000);
  const { accessKey, secretKey } = minio;
  const started = starting.move();
  return {
    postgres: database.href,
    nats: { url: `nats://${natsAddress}`, user, password, ca: authority.certificate },
    s3: { endpoint: `http://${s3Address}`, accessKey, secretKey },
    async restartPostgres(ms) {
      await postgres.stop();
      await pause(ms);
      await postgres.start();
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** Forwards the connections that arrive at `address:port` to a port of the loopback interface. */
async function forwarded(address: string, port: number, local: number): Promise<AsyncDisposable> {
  const server = createServer((incoming) => {
    const outgoing = connect(local, "127.0.0.1");
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  return {
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}
