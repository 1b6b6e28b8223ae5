import {
  deadlineSettings,
  grpcTlsSettings,
  portSetting,
  settings,
  stopSettings,
} from "@statehouse/runtime";
import { z } from "zod";

/**
 * The lowest rate limit that can be set. A lower limit would make clients slow: go-tfe sends at most two thirds of the
 * limit per second. If the limit is below 4, it sends nothing, because its burst is 0.33 times the limit, rounded down.
 */
const MIN_RATE_LIMIT = 30;

/** The schema of the gateway's environment variables. */
export const configSchema = z.object({
  LOG_LEVEL: settings.LOG_LEVEL,
  LOG_FORMAT: settings.LOG_FORMAT,
  EDITION: settings.EDITION,
  HOST: settings.HOST,
  PORT: portSetting(8080, "the API"),
  OPS_PORT: portSetting(9200, "health, readiness and metrics"),
  ...stopSettings,
  ...deadlineSettings,
  PUBLIC_URL: settings.PUBLIC_URL,
  STATE_OBJECT_URL: settings.PUBLIC_URL.optional().describe(
    "Address of the state service's object server, to which the gateway uploads a state that a client sent within the request that creates the state version (default PUBLIC_URL).",
  ),
  ACCESS_ADDRESS: settings.ACCESS_ADDRESS,
  WORKSPACES_ADDRESS: settings.WORKSPACES_ADDRESS,
  STATE_ADDRESS: settings.STATE_ADDRESS,
  ...grpcTlsSettings,
  ASSERTION_PRIVATE_KEY: settings.ASSERTION_PRIVATE_KEY,
  REQUEST_TIMEOUT: z.coerce
    .number()
    .positive()
    .default(30)
    .describe("Seconds that a request may take after it was received."),
  MAX_BODY_BYTES: z.coerce
    .number()
    .int()
    .positive()
    .default(64 * 1024 * 1024)
    .describe(
      "Largest body of a request that creates a state version, in bytes; a state within the request is measured in its Base64 form.",
    ),
  MAX_BODIES_BYTES: z.coerce
    .number()
    .int()
    .positive()
    .default(256 * 1024 * 1024)
    .describe(
      "Largest total size of request bodies in memory, in bytes; the bodies of one principal may use a quarter of it.",
    ),
  TRUSTED_PROXIES: settings.TRUSTED_PROXIES,
  RATE_LIMIT: z.coerce
    .number()
    .int()
    .refine((limit) => limit === 0 || limit >= MIN_RATE_LIMIT, {
      error: `must be 0 or at least ${MIN_RATE_LIMIT}: clients such as go-tfe send at most two thirds of the limit and would be slow`,
    })
    .default(0)
    .describe("Requests per second that each replica accepts from one token; 0 for no limit."),
  FAILED_AUTHENTICATION_LIMIT: settings.FAILED_AUTHENTICATION_LIMIT,
  CORS_ORIGINS: z
    .string()
    .default("")
    .transform((text, context) => {
      const origins = text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "");
      const wrong = origins.find((origin) => URL.parse(origin)?.origin !== origin);
      if (wrong === undefined) return origins;
      context.addIssue("must be origins such as https://console.example.com, separated by commas");
      return z.NEVER;
    })
    .describe("Origins whose pages may call the API from browsers, separated by commas."),
  REMOTE_OPERATIONS: z
    .stringbool()
    .default(false)
    .describe("Whether a runner service executes runs; otherwise the CLI executes them locally."),
});

export type Config = z.infer<typeof configSchema>;
