import { z } from "zod";

/** A JSON object in a variable; its content is checked by whoever imports the keys. */
const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue("is not JSON");
    return z.NEVER;
  }
});

/** `id:base64,id:base64`; the first is used for new values, all for old ones. */
const keyRing = z
  .string()
  .regex(
    /^\s*[\w-]+:[A-Za-z0-9+/=]+\s*(,\s*[\w-]+:[A-Za-z0-9+/=]+\s*)*$/,
    "must be id:base64, several separated by commas",
  );

const jwk = z.looseObject({ kty: z.literal("OKP", "is no EdDSA key"), kid: z.string().min(1) });
const port = z.coerce.number().int().min(0).max(65_535);
const seconds = z.coerce.number().int().min(1);

/** The environment of the service state. */
export const configSchema = z.object({
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("Lines below this level are left out of the log."),
  DATABASE_URL: z.url().describe("Address of the service's own PostgreSQL database."),
  NATS_URL: z.string().default("nats://127.0.0.1:4222").describe("Address of NATS."),
  HOST: z.string().default("0.0.0.0").describe("Address to listen on."),
  GRPC_PORT: port.default(9103).describe("Port for gRPC; 0 takes any free one."),
  OPS_PORT: port.default(9203).describe("Port for health, readiness and metrics; 0: any free one."),
  OBJECT_PORT: port.default(8081).describe("Port for state bytes, /v1/object; 0: any free one."),
  PUBLIC_URL: z
    .url()
    .transform((url) => url.replace(/\/+$/, ""))
    .describe("The installation's public address, base of upload and download URLs."),
  EDITION: z
    .enum(["self-hosted", "hosted"])
    .default("self-hosted")
    .describe("What the installation offers."),
  ASSERTION_PRIVATE_KEY: json
    .pipe(jwk)
    .describe("The key this service signs its calls with: an EdDSA JWK as JSON."),
  ASSERTION_PUBLIC_KEYS: json
    .pipe(z.record(z.string(), z.array(jwk)))
    .describe("Who may sign with which keys: JSON, from a service's name to a list of JWKs."),
  ACCESS_ADDRESS: z.string().default("127.0.0.1:9101").describe("host:port of access' gRPC."),
  WORKSPACES_ADDRESS: z
    .string()
    .default("127.0.0.1:9102")
    .describe("host:port of workspaces' gRPC."),
  UPLOAD_TOKEN_KEYS: keyRing.describe("Keys that sign upload URLs, at least 32 bytes each."),
  SEALING_KEYS: keyRing.describe("Keys that encrypt sensitive output values, 32 bytes each."),
  PENDING_WINDOW: seconds
    .default(3600)
    .describe("Seconds a state version waits for its upload before it is discarded."),
  SWEEP_GRACE: seconds
    .default(86_400)
    .describe("Seconds before stored bytes that no state version refers to are deleted."),
  MAX_STATE_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .default(4 * 1024 ** 3)
    .describe("Largest state that is accepted, in bytes."),
  BLOB_STORE: z
    .enum(["directory", "s3"])
    .default("directory")
    .describe("Where state bytes are kept: a directory (one replica) or S3."),
  BLOB_DIRECTORY: z.string().optional().describe("The directory, with BLOB_STORE=directory."),
  S3_ENDPOINT: z.url().optional().describe("Address of the S3 service, with BLOB_STORE=s3."),
  S3_BUCKET: z.string().optional().describe("Name of the bucket."),
  S3_REGION: z.string().default("us-east-1").describe("Region of the bucket."),
  S3_ACCESS_KEY: z.string().optional().describe("Access key for the bucket."),
  S3_SECRET_KEY: z.string().optional().describe("Secret key for the bucket."),
});

export type StateConfig = z.infer<typeof configSchema>;
