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

const jwk = z.looseObject({ kty: z.literal("OKP", "is no EdDSA key"), kid: z.string().min(1) });
const port = z.coerce.number().int().min(0).max(65_535);

/** The environment of the service workspaces. */
export const configSchema = z.object({
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("Lines below this level are left out of the log."),
  DATABASE_URL: z.url().describe("Address of the service's own PostgreSQL database."),
  NATS_URL: z.string().default("nats://127.0.0.1:4222").describe("Address of NATS."),
  HOST: z.string().default("0.0.0.0").describe("Address to listen on."),
  GRPC_PORT: port.default(9102).describe("Port for gRPC; 0 takes any free one."),
  OPS_PORT: port.default(9202).describe("Port for health, readiness and metrics; 0: any free one."),
  ASSERTION_PRIVATE_KEY: json
    .pipe(jwk)
    .describe("The key this service signs its calls with: an EdDSA JWK as JSON."),
  ASSERTION_PUBLIC_KEYS: json
    .pipe(z.record(z.string(), z.array(jwk)))
    .describe("Who may sign with which keys: JSON, from a service's name to a list of JWKs."),
  ACCESS_ADDRESS: z.string().default("127.0.0.1:9101").describe("host:port of access's gRPC."),
  STATE_ADDRESS: z.string().default("127.0.0.1:9103").describe("host:port of state's gRPC."),
  // `agent` needs a pool, and an organization starts without one.
  DEFAULT_EXECUTION_MODE: z
    .enum(["local", "remote"])
    .default("local")
    .describe("Execution mode that new organizations start with: local or remote."),
  ENGINE_VERSION_LATEST: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/, "is no version such as 1.11.0")
    .default("1.11.0")
    .describe("Engine version of new workspaces whose creator names none."),
});

export type WorkspacesConfig = z.infer<typeof configSchema>;
