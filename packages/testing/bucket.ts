import { randomBytes } from "node:crypto";
import type { MinioAddress } from "@statehouse/local-services";
import { Client } from "minio";
import { sharedMinio } from "./dependencies.ts";

export interface FreshBucket extends MinioAddress, AsyncDisposable {
  readonly bucket: string;
}

/**
 * Creates an empty bucket in the shared MinIO; disposal deletes it with its contents. For suites under
 * `needs("minio")`.
 */
export async function freshBucket(address: MinioAddress = sharedMinio()): Promise<FreshBucket> {
  const client = minioClient(address);
  const bucket = `test-${randomBytes(8).toString("hex")}`;
  await client.makeBucket(bucket, address.region);
  return {
    ...address,
    bucket,
    [Symbol.asyncDispose]: async () => {
      await client.removeObjects(bucket, await objectNames(client, bucket));
      await client.removeBucket(bucket);
    },
  };
}

/** Returns the keys of the bucket, sorted. */
export async function objectNames(client: Client, bucket: string): Promise<string[]> {
  const objects = await Array.fromAsync(client.listObjectsV2(bucket, "", true));
  return objects.flatMap(({ name }) => name ?? []);
}

/** Creates a separate client, for tests that inspect the bucket. */
export function minioClient({ endpoint, region, accessKey, secretKey }: MinioAddress): Client {
  const { hostname, port, protocol } = new URL(endpoint);
  return new Client({
    endPoint: hostname,
    port: Number(port),
    useSSL: protocol === "https:",
    region,
    accessKey,
    secretKey,
  });
}
