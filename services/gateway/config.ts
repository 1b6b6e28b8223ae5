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
  LOG_LEVEL: z.string().default("info").describe("trace, debug, info, warn, error or silent"),
  EDITION: z
    .enum(["self-hosted", "hosted"])
    .default("self-hosted")
    .describe("what differs, see docs"),
  HOST: z.string().default("0.0.0.0").describe("address to listen on"),
  PORT: port.default(8080).describe("port of the API, 0 for any free one"),
  OPS_PORT: port.default(9080).describe("port of /healthz, /readyz and /metrics"),
  PUBLIC_URL: z.url().describe("the address that clients use, without a path"),
  STATE_OBJECT_URL: z
    .url()
    .optional()
    .describe("where inline state is put: the state service's object server (default PUBLIC_URL)"),
  ACCESS_ADDRESS: z.string().default("localhost:7001").describe("host:port of the access service"),
  WORKSPACES_ADDRESS: z
    .string()
    .default("localhost:7002")
    .describe("host:port of the workspaces service"),
  STATE_ADDRESS: z.string().default("localhost:7003").describe("host:port of the state service"),
  ASSERTION_PRIVATE_KEY: json
    .pipe(z.looseObject({ kty: z.string() }))
    .describe("JWK that signs on whose behalf the services are called"),
  REQUEST_TIMEOUT: z.coerce
    .number()
    .positive()
    .default(30)
    .describe("seconds that a request may take once it is read"),
  MAX_BODY_BYTES: z.coerce
    .number()
    .int()
    .positive()
    .default(64 * 1024 * 1024)
    .describe("largest request body; inline state counts in Base64"),
  REMOTE_OPERATIONS: z
    .stringbool()
    .default(false)
    .describe("true only where a runner service executes runs"),
});

export type Config = z.infer<typeof configSchema>;
