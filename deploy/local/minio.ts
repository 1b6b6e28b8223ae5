import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { partBinary, startPart } from "./part-process.ts";
import { onFreePort } from "./port.ts";

/** A MinIO server that listens on 127.0.0.1. */
export interface Minio extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly endpoint: string;
  readonly port: number;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  stop(): Promise<void>;
  /** Starts it again on the same port with the same credentials and objects. */
  start(): Promise<void>;
  kill(): Promise<void>;
}

/** Starts MinIO on one folder with credentials made for this run; port 0 takes a free one. Throws StartError. */
export async function startMinio(options: {
  dataDirectory: string;
  port?: number;
}): Promise<Minio> {
  const binary = await partBinary("minio");
  const objects = path.join(options.dataDirectory, "objects");
  mkdirSync(objects, { recursive: true, mode: 0o700 });
  const accessKey = randomBytes(10).toString("hex");
  const secretKey = randomBytes(20).toString("hex");
  const region = "us-east-1";
  const run = (port: number) =>
    startPart({
      name: "MinIO",
      command: binary,
      args: ["server", "--address", `127.0.0.1:${port}`, "--anonymous", objects],
      env: {
        HOME: options.dataDirectory,
        MINIO_ROOT_USER: accessKey,
        MINIO_ROOT_PASSWORD: secretKey,
        MINIO_REGION: region,
        MINIO_BROWSER: "off",
        MINIO_UPDATE: "off",
      },
      logFile: path.join(options.dataDirectory, "minio.log"),
      stopSignal: "SIGTERM",
      ready: () => serves(port),
    });
  let { port, process } = await onFreePort(options.port ?? 0, run);
  const stop = () => process.stop();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    region,
    accessKey,
    secretKey,
    stop,
    kill: () => process.kill(),
    start: async () => {
      if (!process.running) process = await run(port);
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** Not `live`: that one says yes before buckets can be made. */
async function serves(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/minio/health/cluster`, {
      signal: AbortSignal.timeout(1000),
    });
    return answer.ok;
  } catch {
    return false;
  }
}
