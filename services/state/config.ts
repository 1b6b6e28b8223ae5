import {
  deadlineSettings,
  grpcTlsSettings,
  keyRingSetting,
  natsSettings,
  neededWith,
  optionalRenewable,
  portSetting,
  secondsSetting,
  settings,
  stopSettings,
} from "@statehouse/runtime";
import { z } from "zod";

const neededForS3 = z
  .string()
  .optional()
  .meta(neededWith({ BLOB_STORE: "s3" }));
const keyForS3 = optionalRenewable().meta(neededWith({ BLOB_STORE: "s3", S3_CREDENTIALS: "keys" }));

/** The settings of the store of state bytes. */
export const blobStoreSettings = z.object({
  BLOB_STORE: z
    .enum(["directory", "s3"])
    .default("directory")
    .describe("Where state bytes are stored: a directory (one replica) or S3."),
  BLOB_DIRECTORY: z
    .string()
    .optional()
    .meta(neededWith({ BLOB_STORE: "directory" }))
    .describe("Directory in which state bytes are stored if BLOB_STORE=directory."),
  BLOB_MOVING_FROM: z
    .string()
    .optional()
    .describe(
      "Directory from which states move to BLOB_STORE; contents that BLOB_STORE does not have yet are read from this directory.",
    ),
  S3_ENDPOINT: z
    .url()
    .optional()
    .meta(neededWith({ BLOB_STORE: "s3" }))
    .describe("Address of the S3 service; used if BLOB_STORE=s3."),
  S3_BUCKET: neededForS3.describe("Name of the bucket."),
  S3_REGION: z.string().default("us-east-1").describe("Region of the bucket."),
  S3_CREDENTIALS: z
    .enum(["keys", "aws"])
    .default("keys")
    .describe(
      "Credentials for the bucket: keys (S3_ACCESS_KEY, S3_SECRET_KEY), or aws, those that Amazon's SDK finds: AWS_* variables, web identity, files, container or instance role.",
    ),
  S3_ACCESS_KEY: keyForS3.describe("Access key for the bucket; used if S3_CREDENTIALS=keys."),
  S3_SECRET_KEY: keyForS3.describe("Secret key for the bucket; used if S3_CREDENTIALS=keys."),
  S3_ENCRYPTION: z
    .enum(["none", "AES256", "aws:kms"])
    .default("none")
    .describe(
      "Server-side encryption that each upload requests; with none, the settings of the bucket decide.",
    ),
  S3_KMS_KEY_ID: z
    .string()
    .optional()
    .describe(
      "Id of the KMS key for S3_ENCRYPTION=aws:kms; if omitted, the S3 service uses its default key.",
    ),
  S3_ADDRESSING: z
    .enum(["path", "virtual-host"])
    .default("path")
    .describe(
      "How the bucket is addressed: path (endpoint/bucket) or virtual-host (bucket.endpoint). Amazon is always addressed as virtual-host.",
    ),
  S3_CA_FILE: z
    .string()
    .optional()
    .describe(
      "PEM file of certificate authorities trusted for S3 in addition to those that Node trusts.",
    ),
});

export type BlobStoreConfig = z.infer<typeof blobStoreSettings>;

/** The environment variables of the state service. */
export const configSchema = z.object({
  LOG_LEVEL: settings.LOG_LEVEL,
  LOG_FORMAT: settings.LOG_FORMAT,
  DATABASE_URL: settings.DATABASE_URL,
  DATABASE_POOL_SIZE: settings.DATABASE_POOL_SIZE,
  DATABASE_POOLING: settings.DATABASE_POOLING,
  ...natsSettings,
  HOST: settings.HOST,
  GRPC_PORT: portSetting(9103, "gRPC"),
  OPS_PORT: portSetting(9203, "health, readiness and metrics"),
  ...stopSettings,
  AUDIT_RETENTION_DAYS: settings.AUDIT_RETENTION_DAYS,
  OBJECT_PORT: portSetting(8081, "state bytes, /v1/object"),
  ...deadlineSettings,
  PUBLIC_URL: settings.PUBLIC_URL,
  TRUSTED_PROXIES: settings.TRUSTED_PROXIES,
  FAILED_AUTHENTICATION_LIMIT: settings.FAILED_AUTHENTICATION_LIMIT,
  EDITION: settings.EDITION,
  ...grpcTlsSettings,
  ASSERTION_PRIVATE_KEY: settings.ASSERTION_PRIVATE_KEY,
  ASSERTION_PUBLIC_KEYS: settings.ASSERTION_PUBLIC_KEYS,
  ACCESS_ADDRESS: settings.ACCESS_ADDRESS,
  WORKSPACES_ADDRESS: settings.WORKSPACES_ADDRESS,
  UPLOAD_TOKEN_KEYS: keyRingSetting({ atLeast: 32 }).describe(
    "Keys that sign upload URLs, at least 32 bytes each.",
  ),
  SEALING_KEYS: keyRingSetting({ bytes: 32 }).describe(
    "Keys that encrypt sensitive output values, 32 bytes each.",
  ),
  PENDING_WINDOW: secondsSetting
    .default(3600)
    .describe("Seconds a state version waits for its upload before it is discarded."),
  SWEEP_GRACE: secondsSetting
    .default(86_400)
    .describe(
      "Seconds after the start of an upload for which its bytes are kept if no state version refers to them; they are deleted when BLOB_DELETION_DELAY has also passed.",
    ),
  BLOB_DELETION_DELAY: z.coerce
    .number()
    .int()
    .min(0)
    .default(7 * 86_400)
    .describe(
      "Seconds that stored bytes remain after their last state version is deleted; a database that is restored to a time within this period finds all its bytes.",
    ),
  SOFT_DELETED_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .default(7)
    .describe("Days in which soft-deleted state can be restored; it is then deleted permanently."),
  COLLECTION_INTERVAL: secondsSetting
    .default(3600)
    .describe("Seconds between the scans that apply retention policies."),
  VERIFICATION_INTERVAL: secondsSetting
    .default(86_400)
    .describe(
      "Seconds between the scans that compare the size of every stored state with the database.",
    ),
  MAX_STATE_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .default(4 * 1024 ** 3)
    .describe("Largest state that is accepted, in bytes."),
  ...blobStoreSettings.shape,
});

export type StateConfig = z.infer<typeof configSchema>;
