import { freshBucket, temporaryFolder } from "@statehouse/testing";

export type BlobKind = "directory" | "minio";

/** Where a stack stores its state bytes, as settings of the state service. */
export interface BlobSettings extends AsyncDisposable {
  settings: Record<string, string>;
}

/** Creates a bucket or folder that no other stack uses; returns the settings that name it. */
export async function blobSettings(kind: BlobKind = "directory"): Promise<BlobSettings> {
  if (kind === "directory") {
    const folder = await temporaryFolder();
    return {
      settings: { BLOB_STORE: "directory", BLOB_DIRECTORY: folder.path },
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  }
  const { bucket, endpoint, region, accessKey, secretKey, ...rest } = await freshBucket();
  return {
    settings: {
      BLOB_STORE: "s3",
      S3_ENDPOINT: endpoint,
      S3_BUCKET: bucket,
      S3_REGION: region,
      S3_ACCESS_KEY: accessKey,
      S3_SECRET_KEY: secretKey,
    },
    [Symbol.asyncDispose]: () => rest[Symbol.asyncDispose](),
  };
}
