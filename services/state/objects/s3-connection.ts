import { Agent } from "node:https";
import { rootCertificates } from "node:tls";
import { Client } from "minio";
import { S3Transfer } from "./s3-transfer.ts";

export interface S3Settings {
  /** `http://host:port` or `https://host`. */
  endpoint: string;
  bucket: string;
  accessKey: string;
  secretKey: string;
  region: string;
  /** `path`: endpoint/bucket/key; `virtual-host`: bucket.endpoint/key. Amazon always gets the latter. */
  addressing?: "path" | "virtual-host" | undefined;
  /** PEM of certificate authorities that are trusted in addition to those that Node trusts. */
  authorities?: string | undefined;
  /** How long the store may send and accept nothing, in ms. */
  silenceMs?: number | undefined;
}

/** The minio client signs requests and sends the small ones; bodies use presigned URLs through `transfer`. */
export interface S3Connection extends AsyncDisposable {
  readonly client: Client;
  readonly transfer: S3Transfer;
}

/** Creating the client opens no connection. */
export function connectS3(settings: S3Settings): S3Connection {
  const { endpoint, accessKey, secretKey, region, addressing, silenceMs } = settings;
  const { hostname, port, protocol } = new URL(endpoint);
  const useSSL = protocol === "https:";
  const authorities = settings.authorities && [...rootCertificates, settings.authorities];
  const agent = useSSL && authorities ? new Agent({ keepAlive: true, ca: authorities }) : undefined;
  const client = new Client({
    endPoint: hostname,
    ...(port === "" ? {} : { port: Number(port) }),
    useSSL,
    accessKey,
    secretKey,
    region,
    pathStyle: addressing !== "virtual-host",
    ...(agent ? { transportAgent: agent } : {}),
  });
  const transfer = new S3Transfer({ authorities: authorities || undefined, silenceMs });
  return {
    client,
    transfer,
    async [Symbol.asyncDispose]() {
      agent?.destroy();
      await transfer[Symbol.asyncDispose]();
    },
  };
}
