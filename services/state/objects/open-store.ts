import { ConfigError, type Logger } from "@statehouse/runtime";
import type { BlobStore } from "./blob-store.ts";
import { openDirectoryStore } from "./directory-store.ts";
import { S3Store } from "./s3-store.ts";
import { tracedStore } from "./traced-store.ts";

/** The part of the configuration that says where bytes are kept. */
export interface BlobStoreConfig {
  BLOB_STORE: "directory" | "s3";
  BLOB_DIRECTORY?: string | undefined;
  S3_ENDPOINT?: string | undefined;
  S3_BUCKET?: string | undefined;
  S3_REGION: string;
  S3_ACCESS_KEY?: string | undefined;
  S3_SECRET_KEY?: string | undefined;
}

/** Opens the configured store; one that is down comes later. Throws `ConfigError`, `StartError`. */
export async function openBlobStore(config: BlobStoreConfig, logger: Logger): Promise<BlobStore> {
  const missing: string[] = [];
  const needed = (name: keyof BlobStoreConfig): string => {
    const value = config[name];
    if (value === undefined)
      missing.push(`${name}: is required with BLOB_STORE=${config.BLOB_STORE}`);
    return value ?? "";
  };
  if (config.BLOB_STORE === "directory") {
    const folder = needed("BLOB_DIRECTORY");
    complain(missing);
    return tracedStore(await openDirectoryStore(folder));
  }
  const settings = {
    endpoint: needed("S3_ENDPOINT"),
    bucket: needed("S3_BUCKET"),
    accessKey: needed("S3_ACCESS_KEY"),
    secretKey: needed("S3_SECRET_KEY"),
    region: config.S3_REGION,
  };
  complain(missing);
  return tracedStore(new S3Store(settings, logger));
}

function complain(missing: readonly string[]): void {
  if (missing.length > 0) throw new ConfigError(missing.join("\n"));
}
