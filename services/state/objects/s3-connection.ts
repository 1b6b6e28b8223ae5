import { Agent } from "node:https";
import { rootCertificates } from "node:tls";
import { Client } from "minio";
import { S3Transfer } from "./s3-transfer.ts";

export interface S3Settings {
  /** `http://host:port` or `https://host`. */
  endpoint: string;
  bucket: string;
  /** Both keys are read again for every request: getters return keys that are rotated meanwhile. */
  accessKey: string;
  secretKey: string;
  region: string;
  /**
   * `path` requests endpoint/bucket/key, `virtual-host` requests bucket.endpoint/key. Amazon always gets
   * `virtual-host`.
   */
  addressing?: "path" | "virtual-host" | undefined;
  /** PEM of certificate authorities that are trusted in addition to those that Node trusts. */
  authorities?: string | undefined;
  /** How long the store may neither send nor accept data, in ms. */
  silenceMs?: number | undefined;
}

/**
 * The minio client signs requests and sends those without large bodies. Bodies are sent to presigned URLs by
 * `transfer`.
 */
export interface S3Connection extends AsyncDisposable {
  readonly client: Client;
  readonly transfer: S3Transfer;
}

/** Creates the clients; opens no connection yet. */
export function connectS3(settings: S3Settings): S3Connection {
  const { endpoint, region, addressing, silenceMs } = settings;
  const { hostname, port, protocol } = new URL(endpoint);
  const useSSL = protocol === "https:";
  const authorities = settings.authorities && [...rootCertificates, settings.authorities];
  const agent = useSSL && authorities ? new Agent({ keepAlive: true, ca: authorities }) : undefined;
  const connect = (accessKey: string, secretKey: string) => ({
    accessKey,
    secretKey,
    client: new Client({
      endPoint: hostname,
      ...(port === "" ? {} : { port: Number(port) }),
      useSSL,
      accessKey,
      secretKey,
      region,
      pathStyle: addressing !== "virtual-host",
      ...(agent ? { transportAgent: agent } : {}),
    }),
  });
  let current = connect(settings.accessKey, settings.secretKey);
  const transfer = new S3Transfer({ authorities: authorities || undefined, silenceMs });
  return {
    get client() {
      const { accessKey, secretKey } = settings;
      if (accessKey !== current.accessKey || secretKey !== current.secretKey) {
        current = connect(accessKey, secretKey);
      }
      return current.client;
    },
    transfer,
    async [Symbol.asyncDispose]() {
      agent?.destroy();
      await transfer[Symbol.asyncDispose]();
    },
  };
}
