import { readFileSync } from "node:fs";
import path from "node:path";
import { createSecureContext } from "node:tls";
import { ConfigError, type Logger, StartError } from "@statehouse/runtime";
import type { BlobStoreConfig } from "../config.ts";
import { openDirectoryStore } from "./directory-store.ts";
import { movingStore } from "./moving-store.ts";
import { connectS3, type S3Settings } from "./s3-connection-store.ts";
import { s3Problem } from "./s3-problem-store.ts";
import { S3Store } from "./s3-store.ts";
import type { BlobStore } from "./store.ts";
import { tracedStore } from "./traced-store.ts";

interface Opening {
  /** Does not delete incomplete files in a folder, because the state service may be running and writing them. */
  beside?: boolean;
}

/**
 * Opens the configured store, combined with the store from which its contents are moving, if any. Does not wait for S3
 * if it is down; the store connects later. Throws `ConfigError`, `StartError`.
 */
export async function openBlobStore(
  config: BlobStoreConfig,
  logger: Logger,
  opening: Opening = {},
): Promise<BlobStore> {
  if (config.BLOB_MOVING_FROM !== undefined) {
    return tracedStore(movingStore(await openMove(config, logger, opening)));
  }
  return tracedStore(await openStore(config, logger, opening));
}

/** Opens both stores of a move separately. Throws `ConfigError`, `StartError`. */
export async function openMove(
  config: BlobStoreConfig,
  logger: Logger,
  opening: Opening = {},
): Promise<{ from: BlobStore; to: BlobStore }> {
  const folder = config.BLOB_MOVING_FROM;
  if (folder === undefined) {
    throw new ConfigError(
      "BLOB_MOVING_FROM: is required; it names the directory from which states move",
    );
  }
  if (
    config.BLOB_STORE === "directory" &&
    path.resolve(config.BLOB_DIRECTORY ?? "") === path.resolve(folder)
  ) {
    throw new ConfigError("BLOB_MOVING_FROM: must differ from the directory of BLOB_STORE");
  }
  const from = await openDirectoryStore(folder, { beside: true });
  return { from, to: await openStore(config, logger, opening) };
}

async function openStore(
  config: BlobStoreConfig,
  logger: Logger,
  opening: Opening,
): Promise<BlobStore> {
  const place = placeOf(config);
  return "folder" in place
    ? await openDirectoryStore(place.folder, opening)
    : new S3Store(place, logger);
}

/** Examines the configured store and changes nothing in it. Throws `ConfigError`, `StartError`. */
export async function examineBlobStore(config: BlobStoreConfig): Promise<undefined> {
  const place = placeOf(config);
  if ("folder" in place) {
    const store = await openDirectoryStore(place.folder, { beside: true });
    await store[Symbol.asyncDispose]();
    return;
  }
  await using connection = connectS3(place);
  try {
    await connection.client.listObjectsV2Query(place.bucket, "", "", "", 1, "");
  } catch (error) {
    throw new StartError(s3Problem(error, place, "list the bucket"));
  }
}

// Settings that BLOB_STORE and S3_CREDENTIALS require are not missing: `readConfig` has checked them.
function placeOf(config: BlobStoreConfig): { folder: string } | S3Settings {
  const { S3_ENCRYPTION: algorithm, S3_KMS_KEY_ID: keyId } = config;
  if (config.BLOB_STORE === "directory") return { folder: config.BLOB_DIRECTORY ?? "" };
  if (keyId !== undefined && algorithm !== "aws:kms") {
    throw new ConfigError("S3_KMS_KEY_ID: requires S3_ENCRYPTION=aws:kms");
  }
  const keys = config.S3_CREDENTIALS === "keys" ? config : undefined;
  return {
    endpoint: config.S3_ENDPOINT ?? "",
    bucket: config.S3_BUCKET ?? "",
    get accessKey() {
      return keys?.S3_ACCESS_KEY?.();
    },
    get secretKey() {
      return keys?.S3_SECRET_KEY?.();
    },
    encryption: algorithm === "none" ? undefined : { algorithm, keyId },
    region: config.S3_REGION,
    addressing: config.S3_ADDRESSING,
    authorities: config.S3_CA_FILE ? authoritiesIn(config.S3_CA_FILE) : undefined,
  };
}

/** Reads certificate authorities. Reports problems at start that a TLS handshake would report only at the first use. */
function authoritiesIn(file: string): string {
  try {
    const authorities = readFileSync(file, "utf8");
    if (!/-----BEGIN CERTIFICATE-----/.test(authorities))
      throw new Error("it contains no certificate");
    createSecureContext({ ca: authorities });
    return authorities;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`S3_CA_FILE: ${file} cannot be used: ${reason}`);
  }
}
