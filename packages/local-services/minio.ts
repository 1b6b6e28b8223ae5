import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import path from "node:path";
import { withFileLimit } from "./file-limit.ts";
import { type LocalServer, startOnPort } from "./port.ts";
import { programPath, startProcess } from "./server-process.ts";

/** The options of MinIO that a new start can change. They apply until the next start. */
type Limits = Pick<MinioOptions, "largestFile">;

/** How clients reach a MinIO server. */
export interface MinioAddress {
  /** `http://127.0.0.1:<port>` */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** A MinIO server that listens on 127.0.0.1. */
export interface Minio extends LocalServer<Limits>, MinioAddress {}

export interface MinioOptions {
  dataDirectory: string;
  port?: number;
  /** Serves TLS with a certificate for 127.0.0.1. All values are PEM. */
  tls?: { certificate: string; privateKey: string; authority: string };
  /** Also accepts bucket addresses of the form `<bucket>.<domain>`, in addition to the path form. */
  domain?: string;
  /** Additional environment variables of the server. */
  environment?: Readonly<Record<string, string>>;
  /** Maximum size of each file in bytes; a larger write fails like a write to a full disk. */
  largestFile?: number;
}

/** Starts MinIO on one folder with generated credentials; port 0 selects a free port. Throws StartError. */
export async function startMinio(options: MinioOptions): Promise<Minio> {
  const { tls, domain } = options;
  const binary = await programPath("minio");
  const objects = path.join(options.dataDirectory, "objects");
  mkdirSync(objects, { recursive: true, mode: 0o700 });
  const accessKey = randomBytes(10).toString("hex");
  const secretKey = randomBytes(20).toString("hex");
  const region = "us-east-1";
  const certificates = path.join(options.dataDirectory, "certificates");
  mkdirSync(certificates, { recursive: true, mode: 0o700 });
  if (tls) {
    writeFileSync(path.join(certificates, "public.crt"), tls.certificate);
    writeFileSync(path.join(certificates, "private.key"), tls.privateKey, { mode: 0o600 });
  }
  const run = (port: number, { largestFile }: Limits = options) =>
    startProcess({
      name: "MinIO",
      ...withFileLimit(largestFile, binary, [
        "server",
        ...["--address", `127.0.0.1:${port}`, "--certs-dir", certificates, "--anonymous", objects],
      ]),
      env: {
        HOME: options.dataDirectory,
        MINIO_ROOT_USER: accessKey,
        MINIO_ROOT_PASSWORD: secretKey,
        MINIO_REGION: region,
        MINIO_BROWSER: "off",
        MINIO_UPDATE: "off",
        ...(domain === undefined ? {} : { MINIO_DOMAIN: domain }),
        ...options.environment,
      },
      logFile: path.join(options.dataDirectory, "minio.log"),
      stopSignal: "SIGTERM",
      ready: () => serves(port, tls?.authority),
    });
  const server = await startOnPort(options.port ?? 0, run);
  const endpoint = `${tls ? "https" : "http"}://127.0.0.1:${server.port}`;
  return {
    ...server,
    get pid() {
      return server.pid;
    },
    endpoint,
    region,
    accessKey,
    secretKey,
  };
}

/**
 * Returns whether the server can create buckets. The endpoint `/minio/health/live` is not used, because it succeeds
 * before the server can do so.
 */
const serves = (port: number, ca: string | undefined): Promise<boolean> =>
  new Promise((resolve) => {
    const { get } = ca === undefined ? http : https;
    const signal = AbortSignal.timeout(1000);
    get(
      { host: "127.0.0.1", port, path: "/minio/health/cluster", ca, signal, agent: false },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      },
    ).on("error", () => resolve(false));
  });
