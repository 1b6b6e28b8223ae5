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

/** The environment of the service access. */
export const configSchema = z.object({
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("Lines below this level are left out of the log."),
  DATABASE_URL: z.url().describe("Address of the service's own PostgreSQL database."),
  NATS_URL: z.string().default("nats://127.0.0.1:4222").describe("Address of NATS."),
  HOST: z.string().default("0.0.0.0").describe("Address to listen on."),
  GRPC_PORT: port.default(9101).describe("Port for gRPC; 0 takes any free one."),
  OPS_PORT: port.default(9201).describe("Port for health, readiness and metrics; 0: any free one."),
  ASSERTION_PRIVATE_KEY: json
    .pipe(jwk)
    .describe("The key this service signs its calls with: an EdDSA JWK as JSON."),
  ASSERTION_PUBLIC_KEYS: json
    .pipe(z.record(z.string(), z.array(jwk)))
    .describe("Who may sign with which keys: JSON, from a service's name to a list of JWKs."),
  WORKSPACES_ADDRESS: z
    .string()
    .default("127.0.0.1:9102")
    .describe("host:port of workspaces' gRPC."),
});

export type AccessConfig = z.infer<typeof configSchema>;
