import { z } from "zod";

/** A JSON object in a variable. */
const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue("is not JSON");
    return z.NEVER;
  }
});

const jwk = z.looseObject({ kty: z.literal("OKP", "is no EdDSA key"), kid: z.string().min(1) });

const address = (service: string, byDefault: string) =>
  z.string().default(byDefault).describe(`host:port of ${service}'s gRPC.`);

/** A TCP port. */
export const portSetting = (byDefault: number, what: string) =>
  z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(byDefault)
    .describe(`Port for ${what}; 0 takes any free one.`);

/** A length of time in whole seconds. */
export const secondsSetting = z.coerce.number().int().min(1);

/** `id:base64,id:base64`; the first is used for new values, all for old ones. */
export const keyRingSetting = z
  .string()
  .regex(
    /^\s*[\w-]+:[A-Za-z0-9+/=]+\s*(,\s*[\w-]+:[A-Za-z0-9+/=]+\s*)*$/,
    "must be id:base64, several separated by commas",
  );

/** The settings that several services read, so that each has one name, one rule and one text. */
export const settings = {
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("Lines below this level are left out of the log."),
  EDITION: z
    .enum(["self-hosted", "hosted"])
    .default("self-hosted")
    .describe("What the installation offers: self-hosted or hosted."),
  HOST: z.string().default("0.0.0.0").describe("Address to listen on."),
  PUBLIC_URL: z
    .url()
    .transform((url) => url.replace(/\/+$/, ""))
    .describe("The address that clients use, without a path."),
  DATABASE_URL: z.url().describe("Address of the service's own PostgreSQL database."),
  NATS_URL: z.string().default("nats://127.0.0.1:4222").describe("Address of NATS."),
  ACCESS_ADDRESS: address("access", "127.0.0.1:9101"),
  WORKSPACES_ADDRESS: address("workspaces", "127.0.0.1:9102"),
  STATE_ADDRESS: address("state", "127.0.0.1:9103"),
  ASSERTION_PRIVATE_KEY: json
    .pipe(jwk)
    .describe("The key this service signs its calls with: an EdDSA JWK as JSON."),
  ASSERTION_PUBLIC_KEYS: json
    .pipe(z.record(z.string(), z.array(jwk)))
    .describe("Who may sign with which keys: JSON, from a service's name to a list of JWKs."),
};
