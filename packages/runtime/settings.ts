import { z } from "zod";
import { neededWith, renewableMark } from "./config.ts";
import type { ConnectionDeadlines } from "./listener.ts";
import { networkOf } from "./proxies.ts";

/** A setting that contains a JSON value. */
const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue("is not JSON");
    return z.NEVER;
  }
});

/** A part of an Ed25519 JWK: 32 bytes in base64url. */
const keyPart = z
  .string("is missing")
  .regex(/^[A-Za-z0-9_-]{43}$/, "must be part of an Ed25519 key: 32 bytes in base64url");

const jwk = z.looseObject(
  {
    kty: z.literal("OKP", "must be OKP: only Ed25519 keys are accepted"),
    crv: z.literal("Ed25519", "must be Ed25519"),
    x: keyPart,
    kid: z.string("is missing").min(1, "is empty"),
  },
  "must be a JWK",
);

const address = (service: string, byDefault: string) =>
  z.string().default(byDefault).describe(`gRPC address (host:port) of the ${service} service.`);

/** Declares a whole number that is at least `min`, and at most `max` if it is given. */
const wholeNumber = (min: number, max?: number) => {
  const number = z.coerce.number().int().min(min);
  return max === undefined ? number : number.max(max);
};

/** Declares the setting for a TCP port. */
export const portSetting = (byDefault: number, what: string) =>
  wholeNumber(0, 65_535).default(byDefault).describe(`Port for ${what}; 0 selects a free one.`);

/**
 * Declares a setting that can be replaced while the process runs. After parsing, it is a function that returns the
 * current value. The value changes when the content of the setting's file changes; for a setting `X`, this is the file
 * that the variable `X_FILE` names.
 */
export const renewable = <Schema extends z.ZodType>(schema: Schema) =>
  schema.transform((value) => () => value).meta(renewableMark);

/** Declares an optional text that can be replaced while the process runs. */
export const optionalRenewable = () => renewable(z.string()).optional().meta(renewableMark);

/** A duration in whole seconds. */
export const secondsSetting = wholeNumber(1);

/**
 * Declares a list of keys, `id:base64,id:base64`. New values use the first key; existing values can use any of them.
 * Each key has exactly `bytes` or at least `atLeast` bytes.
 */
export const keyRingSetting = (length: { bytes: number } | { atLeast: number }) =>
  renewable(
    z
      .string()
      .regex(
        /^\s*[\w-]+:[A-Za-z0-9+/=]+\s*(,\s*[\w-]+:[A-Za-z0-9+/=]+\s*)*$/,
        "must be id:base64, several separated by commas",
      )
      .check(({ value, issues }) => {
        const problem = issues.length === 0 && ringProblem(value, length);
        if (problem) issues.push({ code: "custom", message: problem, input: undefined });
      }),
  );

/**
 * Returns the first problem of a key list; undefined if the list is valid. The message names a key by its id and never
 * quotes its value.
 */
function ringProblem(
  ring: string,
  length: { bytes: number } | { atLeast: number },
): string | undefined {
  const ids = new Set<string>();
  for (const entry of ring.split(",")) {
    const [id = "", encoded = ""] = entry.trim().split(":");
    if (ids.has(id)) return `the id ${id} appears twice`;
    ids.add(id);
    const size = Buffer.from(encoded, "base64").length;
    if ("bytes" in length ? size !== length.bytes : size < length.atLeast) {
      const expected = "bytes" in length ? `${length.bytes}` : `at least ${length.atLeast}`;
      return `the key ${id} has ${size} bytes and must have ${expected}`;
    }
  }
  return undefined;
}

/** The settings of a connection to NATS, for every service that publishes or receives events. */
export const natsSettings = {
  NATS_URL: z.string().default("nats://127.0.0.1:4222").describe("Address of NATS."),
  NATS_USER: z.string().optional().describe("User for NATS; requires NATS_PASSWORD."),
  NATS_PASSWORD: optionalRenewable().describe("Password of NATS_USER."),
  NATS_TOKEN: optionalRenewable().describe("Token for NATS, instead of a user."),
  NATS_NKEY_SEED: renewable(
    z
      .string()
      .regex(/^\s*SU[A-Z2-7]{56}\s*$/, "must be the seed of a user's nkey, which begins with SU"),
  )
    .optional()
    .meta(renewableMark)
    .describe("Seed of an nkey for NATS, instead of a user."),
  NATS_CREDENTIALS: optionalRenewable().describe(
    "Content of a credentials file of NATS (JWT and seed), instead of a user.",
  ),
  NATS_CA_FILE: z
    .string()
    .optional()
    .describe("PEM file of the authorities that sign the certificate of NATS."),
  NATS_CERT_FILE: z
    .string()
    .optional()
    .describe("PEM file of the client certificate for NATS; requires NATS_KEY_FILE."),
  NATS_KEY_FILE: z
    .string()
    .optional()
    .describe("PEM file of the private key of the certificate in NATS_CERT_FILE."),
  NATS_TLS: z
    .enum(["on", "off"])
    .optional()
    .describe(
      "on: a NATS server without TLS is refused; default: on if NATS_CA_FILE or NATS_CERT_FILE is set.",
    ),
  EVENT_SOURCE: z
    .string()
    .regex(
      /^[a-z][a-z0-9+.-]*:[!-~]+$/i,
      "must be a URI, for example https://terraform.example.com",
    )
    .transform((uri) => uri.replace(/\/+$/, ""))
    .default("urn:statehouse:default")
    .describe("URI of this installation, at the beginning of the source of its events."),
  STREAM_REPLICAS: wholeNumber(1, 5)
    .default(1)
    .describe("Copies of the event stream in the NATS cluster: 3 in production."),
  STREAM_MAX_AGE_DAYS: z.coerce
    .number()
    .min(1)
    .max(3650)
    .optional()
    .describe("Days for which the stream keeps events; default of a new stream: 30."),
  STREAM_MAX_BYTES: wholeNumber(1024 * 1024)
    .optional()
    .describe("Maximum size of the stream in bytes; the oldest events are deleted first."),
  STREAM_CLUSTER: z
    .string()
    .optional()
    .describe("Cluster of NATS in which the streams are placed."),
  STREAM_TAGS: z
    .string()
    .optional()
    .describe("Tags, separated by commas, of the NATS servers on which the streams are placed."),
  EVENT_SUBSCRIBERS: z
    .string()
    .optional()
    .transform((text) => (text ? text.split(",").map(subscriberFrom) : undefined))
    .refine(
      (all) => all?.every((one) => one !== undefined) ?? true,
      "must be durable names and filters: billing=statehouse.>,search=statehouse.state.>",
    )
    .transform((all) => all?.filter((one) => one !== undefined))
    .refine(
      (all) => (all?.filter(({ filter }) => filter.startsWith("statehouse-mail.")).length ?? 0) < 2,
      "must contain at most one subscriber of statehouse-mail, because its stream can have only one consumer",
    )
    .describe(
      "Durable names and filters of the subscribers that have accounts of their own in NATS: name=filter,name=filter.",
    ),
};

interface DeclaredSubscriber {
  durable: string;
  filter: string;
}

function subscriberFrom(text: string): DeclaredSubscriber | undefined {
  const [, durable, filter] =
    /^([\w-]+)=(statehouse(?:-mail)?\.[\w.*>-]+)$/.exec(text.trim()) ?? [];
  return durable && filter ? { durable, filter } : undefined;
}

const neededForTls = z
  .string()
  .optional()
  .meta(neededWith({ GRPC_TLS: "on" }));

/** The settings of mutual TLS between the services. */
export const grpcTlsSettings = {
  GRPC_TLS: z
    .enum(["on", "off"])
    .default("on")
    .describe(
      "Mutual TLS between the services; off only where the network between them is trusted.",
    ),
  GRPC_CA_FILE: neededForTls.describe("PEM file of the authorities that sign all certificates."),
  GRPC_CERT_FILE: neededForTls.describe(
    "PEM file of this service's certificate, with the service's name as a DNS name.",
  ),
  GRPC_KEY_FILE: neededForTls.describe(
    "PEM file of the private key of the certificate in GRPC_CERT_FILE.",
  ),
};

/**
 * Settings that several services have. They are declared once, so that each has the same name, validation and
 * description in all services.
 */
export const settings = {
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("Lines below this level are omitted from the log."),
  LOG_FORMAT: z
    .enum(["numbers", "names"])
    .default("numbers")
    .describe(
      "numbers: lines have the level as a number and the time in ms; names: the level's name and ISO 8601.",
    ),
  EDITION: z
    .enum(["self-hosted", "hosted"])
    .default("self-hosted")
    .describe("The features of the installation: self-hosted or hosted."),
  HOST: z.string().default("0.0.0.0").describe("Address to listen on."),
  PUBLIC_URL: z
    .url()
    .transform((url) => url.replace(/\/+$/, ""))
    .describe("The address that clients use, without a path."),
  AUDIT_RETENTION_DAYS: wholeNumber(1)
    .default(90)
    .describe(
      "Days for which records of the audit trail are kept; the records of a month are deleted together, when the last of them is older than this.",
    ),
  FAILED_AUTHENTICATION_LIMIT: wholeNumber(0)
    .default(60)
    .describe(
      "Maximum number of invalid tokens per minute from one client address, for each replica; 0 for no limit.",
    ),
  TRUSTED_PROXIES: z
    .string()
    .default("")
    .transform((text, context) => {
      const networks = text.split(",").map((part) => part.trim());
      const known = networks.filter((part) => part !== "").map(networkOf);
      if (known.every((network) => network !== undefined)) return known;
      context.addIssue("must be addresses or networks such as 10.0.0.0/8, separated by commas");
      return z.NEVER;
    })
    .describe(
      "Addresses and networks of the proxies whose traceparent and X-Forwarded-For headers are trusted.",
    ),
  DATABASE_URL: renewable(z.url()).describe("Address of the service's own PostgreSQL database."),
  DATABASE_POOL_SIZE: z.coerce
    .number()
    .int()
    .min(2, "must be at least 2, because one connection can be waiting for the bus")
    .max(1000)
    .default(20)
    .describe(
      "Maximum number of connections that each replica of the service opens to its database.",
    ),
  DATABASE_POOLING: z
    .enum(["none", "session", "transaction"])
    .default("none")
    .describe("How a proxy in front of the database, such as PgBouncer, pools connections."),
  ACCESS_ADDRESS: address("access", "127.0.0.1:9101"),
  WORKSPACES_ADDRESS: address("workspaces", "127.0.0.1:9102"),
  STATE_ADDRESS: address("state", "127.0.0.1:9103"),
  ASSERTION_PRIVATE_KEY: renewable(json.pipe(jwk.extend({ d: keyPart }))).describe(
    "The key with which this service signs its calls: an EdDSA JWK as JSON.",
  ),
  ASSERTION_PUBLIC_KEYS: renewable(
    json.pipe(
      z.record(
        z.string(),
        z.array(jwk, "must be a list of JWKs"),
        "must be an object from names to lists of JWKs",
      ),
    ),
  ).describe(
    "Accepted signers and their public keys: a JSON object from service names to lists of JWKs.",
  ),
};

/** The settings for the time limits of connections. */
export const deadlineSettings = {
  HEADERS_TIMEOUT: secondsSetting
    .default(60)
    .describe("Seconds within which the headers of a request must arrive."),
  IDLE_TIMEOUT: secondsSetting
    .default(60)
    .describe("Seconds without data after which a connection is closed."),
  BODY_TIMEOUT: secondsSetting
    .default(60)
    .describe(
      "Seconds within which the body of a request must arrive, plus one second for each 16,000 bytes received.",
    ),
};

/** The settings for stopping a service. */
export const stopSettings = {
  DRAIN_SECONDS: wholeNumber(0, 3600)
    .default(5)
    .describe(
      "Seconds for which the service serves requests after SIGTERM, while it reports that it is not ready.",
    ),
  SHUTDOWN_TIMEOUT: secondsSetting
    .default(20)
    .describe("Seconds for which requests in progress may continue after the ports are closed."),
};

/** Returns the time limits of a listener, from its settings. */
export const deadlinesOf = (config: {
  HEADERS_TIMEOUT: number;
  IDLE_TIMEOUT: number;
}): ConnectionDeadlines => ({
  headersMs: config.HEADERS_TIMEOUT * 1000,
  idleMs: config.IDLE_TIMEOUT * 1000,
});
