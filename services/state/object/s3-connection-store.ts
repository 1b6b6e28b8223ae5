import { Agent } from "node:https";
import { rootCertificates } from "node:tls";
import { Client, type ClientOptions } from "minio";
import { presignSignatureV4 } from "minio/dist/esm/signing.mjs";
import { credentialSource } from "./s3-credentials-store.ts";
import { S3Transfer } from "./s3-transfer-store.ts";

/** Server-side encryption that every upload requests. */
export interface S3Encryption {
  algorithm: "AES256" | "aws:kms";
  /** Id of the KMS key, only for `aws:kms`; undefined selects the default key of the S3 service. */
  keyId?: string | undefined;
}

export interface S3Settings {
  /** `http://host:port` or `https://host`. */
  endpoint: string;
  bucket: string;
  /**
   * Both keys or neither. They are read again for every request, so that a getter can return keys that were rotated in
   * the meantime. Without keys, the credentials are those that the AWS SDK finds.
   */
  readonly accessKey?: string | undefined;
  readonly secretKey?: string | undefined;
  /** Undefined leaves encryption to the settings of the bucket. */
  encryption?: S3Encryption | undefined;
  region: string;
  /**
   * `path` requests `<endpoint>/<bucket>/<key>`, `virtual-host` requests `<bucket>.<endpoint>/<key>`. Amazon always
   * gets `virtual-host`.
   */
  addressing?: "path" | "virtual-host" | undefined;
  /** PEM of certificate authorities that are trusted in addition to those that Node trusts. */
  authorities?: string | undefined;
  /** How long a transfer waits for the store before it fails, in ms; `TransferOptions` describes the waits. */
  silenceMs?: number | undefined;
}

/**
 * The minio client signs requests, and sends those without large bodies. `transfer` sends and receives bodies with
 * presigned URLs.
 */
export interface S3Connection extends AsyncDisposable {
  readonly client: Client;
  readonly transfer: S3Transfer;
  /** Returns a URL for one upload, and the headers that the upload must have. */
  presignPut(
    key: string,
    lifetimeS: number,
  ): Promise<{ url: string; headers: Record<string, string> }>;
}

/** Creates the clients; opens no connection yet. */
export function connectS3(settings: S3Settings): S3Connection {
  const { endpoint, bucket, region, addressing, silenceMs } = settings;
  const source = credentialSource(settings);
  const { hostname, port, protocol } = new URL(endpoint);
  const useSSL = protocol === "https:";
  const authorities = settings.authorities && [...rootCertificates, settings.authorities];
  const agent = useSSL && authorities ? new Agent({ keepAlive: true, ca: authorities }) : undefined;
  const options: ClientOptions = {
    endPoint: hostname,
    ...(port === "" ? {} : { port: Number(port) }),
    useSSL,
    region,
    pathStyle: addressing !== "virtual-host",
    ...(agent ? { transportAgent: agent } : {}),
  };
  // The declared type of this option is a class, but the client only calls the method.
  Object.assign(options, { credentialsProvider: source });
  const client = new Client(options);
  const encryption = encryptionHeaders(settings.encryption);
  const transfer = new S3Transfer({ authorities: authorities || undefined, silenceMs });
  return {
    client,
    transfer,
    async presignPut(key, lifetimeS) {
      const url = await client.presignedPutObject(bucket, key, lifetimeS);
      if (!encryption) return { url, headers: {} };
      const { host, pathname: path, protocol } = new URL(url);
      const { accessKey, secretKey, sessionToken } = await source.getCredentials();
      // The URL is signed again with the encryption headers. The minio client cannot sign them, and S3 refuses them
      // unless they are signed.
      const signed = { method: "PUT", protocol, path, headers: { host, ...encryption } };
      const now = new Date();
      return {
        url: presignSignatureV4(signed, accessKey, secretKey, sessionToken, region, now, lifetimeS),
        headers: encryption,
      };
    },
    async [Symbol.asyncDispose]() {
      agent?.destroy();
      await transfer[Symbol.asyncDispose]();
    },
  };
}

const encryptionHeaders = (
  encryption: S3Encryption | undefined,
): Record<string, string> | undefined =>
  encryption && {
    "x-amz-server-side-encryption": encryption.algorithm,
    ...(encryption.keyId === undefined
      ? {}
      : { "x-amz-server-side-encryption-aws-kms-key-id": encryption.keyId }),
  };
