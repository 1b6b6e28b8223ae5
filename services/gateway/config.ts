import { z } from "zod";

const port = z.coerce.number().int().min(0).max(65535);
const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: "custom", message: "is not valid JSON" });
    return z.NEVER;
  }
});

/** The gateway's environment. */
export const configSchema = z.object({
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("Lines below this level are left out of the log."),
  EDITION: z
    .enum(["self-hosted", "hosted"])
    .default("self-hosted")
    .describe("What differs, see docs."),
  HOST: z.string().default("0.0.0.0").describe("Address to listen on."),
  PORT: port.default(8080).describe("Port of the API, 0 for any free one."),
  OPS_PORT: port.default(9200).describe("Port of /healthz, /readyz and /metrics."),
  PUBLIC_URL: z.url().describe("The address that clients use, without a path."),
  STATE_OBJECT_URL: z
    .url()
    .optional()
    .describe("Where inline state is put: the state service's object server (default PUBLIC_URL)."),
  ACCESS_ADDRESS: z.string().default("127.0.0.1:9101").describe("Host:port of the access service."),
  WORKSPACES_ADDRESS: z
    .string()
    .default("127.0.0.1:9102")
    .describe("Host:port of the workspaces service."),
  STATE_ADDRESS: z.string().default("127.0.0.1:9103").describe("Host:port of the state service."),
  ASSERTION_PRIVATE_KEY: json
    .pipe(z.looseObject({ kty: z.literal("OKP", "is no EdDSA key"), kid: z.string().min(1) }))
    .describe("The key that signs on whose behalf services are called: an EdDSA JWK as JSON."),
  REQUEST_TIMEOUT: z.coerce
    .number()
    .positive()
    .default(30)
    .describe("Seconds that a request may take once it is read."),
  MAX_BODY_BYTES: z.coerce
    .number()
    .int()
    .positive()
    .default(64 * 1024 * 1024)
    .describe("Largest request body; inline state counts in Base64."),
  REMOTE_OPERATIONS: z
    .stringbool()
    .default(false)
    .describe("True only where a runner service executes runs."),
});

export type Config = z.infer<typeof configSchema>;
