import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { connectNats } from "@statehouse/events";
import {
  openDatabase,
  type Pooling,
  requireSupportedServer,
  type SealedColumn,
  type SqlMigration,
  sealingKeyIds,
} from "@statehouse/postgres";
import { type AssertionKeys, createIdentity, namesOf, openGrpcTls } from "@statehouse/rpc";
import {
  createLogger,
  isUntrustedAuthority,
  readConfig,
  StartError,
  withRetry,
} from "@statehouse/runtime";
import type { z } from "zod";
import type { GrpcTlsConfig } from "./grpc-tls.ts";
import { type NatsConfig, natsOptions } from "./nats-options.ts";

type Print = (line: string) => void;
type JsonKey = Parameters<typeof createIdentity>[1];

/**
 * Examines one part of the configuration. Returns a note for the operator, if there is one. Throws an error that
 * describes the problem.
 */
export type Examination = () => Promise<string | undefined>;

interface PreflightSubject {
  name: string;
  config: z.ZodObject;
  entities?: Parameters<typeof openDatabase>[0]["entities"];
  migrations?: readonly SqlMigration[];
  sealedColumns?: readonly SealedColumn[];
  examine?(config: never): Readonly<Record<string, Examination>>;
}

/** The settings that are examined; a service declares some of them. */
interface Settings extends Partial<NatsConfig>, Partial<GrpcTlsConfig> {
  DATABASE_URL?: () => string;
  DATABASE_POOLING?: Pooling;
  SEALING_KEYS?: () => string;
  ASSERTION_PRIVATE_KEY: Extract<JsonKey, () => unknown>;
  ASSERTION_PUBLIC_KEYS?: () => AssertionKeys;
}

const NATS_MS = 5000;
const DAY_MS = 86_400_000;
/** Certificates that expire in fewer days than this are reported. */
const SOON_DAYS = 14;

/**
 * Examines the settings, keys and stores of a service as this release would use them, and changes nothing. Prints a
 * line for each part. Returns false if this release could not use one of the parts. Throws `ConfigError`.
 */
export async function preflight(service: PreflightSubject, print: Print): Promise<boolean> {
  const config = readConfig(service.config);
  print("settings: ok");
  const settings = config as unknown as Settings;
  const examinations: Record<string, Examination> = {
    keys: () => keysOf(service.name, settings),
    "gRPC TLS": () => certificateOf(service.name, settings),
    ...(settings.DATABASE_URL && { database: () => databaseOf(service, settings) }),
    ...(settings.NATS_URL && { NATS: () => natsOf(settings as unknown as NatsConfig) }),
    ...service.examine?.(config as never),
  };
  let ok = true;
  for (const [part, examination] of Object.entries(examinations)) {
    try {
      print(`${part}: ${(await examination()) ?? "ok"}`);
    } catch (error) {
      ok = false;
      print(`${part}: failed: ${problemOf(part, error)}`);
    }
  }
  return ok;
}

/** For each part that verifies a server certificate, the beginning of the advice on how to set its authority. */
const authoritySettings: Readonly<Record<string, string>> = {
  database: "add sslrootcert to DATABASE_URL, with",
  NATS: "set NATS_CA_FILE to",
};

function problemOf(part: string, error: unknown): string {
  const setting = authoritySettings[part];
  if (setting && isUntrustedAuthority(error)) {
    return `the certificate of the server is signed by an authority that is not trusted here; ${setting} a file with that authority's certificate`;
  }
  return error instanceof Error ? error.message : String(error);
}

async function keysOf(name: string, settings: Settings): Promise<string | undefined> {
  const own = settings.ASSERTION_PRIVATE_KEY();
  await createIdentity(name, own);
  const accepted = settings.ASSERTION_PUBLIC_KEYS?.();
  if (accepted && !accepted[name]?.some(({ kid, x }) => kid === own.kid && x === own.x)) {
    throw new StartError(
      `ASSERTION_PUBLIC_KEYS does not contain the key ${own.kid} of ASSERTION_PRIVATE_KEY as a key of ${name}`,
    );
  }
  return undefined;
}

async function certificateOf(name: string, settings: Settings): Promise<string | undefined> {
  const { GRPC_CA_FILE: caFile, GRPC_CERT_FILE: certFile, GRPC_KEY_FILE: keyFile } = settings;
  if (settings.GRPC_TLS === "off") return "off: calls between the services are not encrypted";
  if (!caFile || !certFile || !keyFile) return undefined;
  openGrpcTls({ caFile, certFile, keyFile });
  const certificate = new X509Certificate(readFileSync(certFile));
  if (!namesOf(certificate.subjectAltName).includes(name)) {
    throw new StartError(`the certificate of GRPC_CERT_FILE does not have the DNS name ${name}`);
  }
  const days = Math.floor((certificate.validToDate.getTime() - Date.now()) / DAY_MS);
  if (days < 0) throw new StartError("the certificate of GRPC_CERT_FILE has expired");
  return days < SOON_DAYS ? `the certificate expires in ${days} days` : undefined;
}

async function databaseOf(
  service: PreflightSubject,
  settings: Settings,
): Promise<string | undefined> {
  const { name: contextName, entities = [], migrations = [], sealedColumns = [] } = service;
  const logger = createLogger({ service: contextName, level: "silent" });
  await using database = await openDatabase({
    contextName,
    url: settings.DATABASE_URL ?? "",
    pooling: settings.DATABASE_POOLING,
    entities,
    migrations,
    logger,
  });
  await requireSupportedServer(database.query);
  const missing = await database.missingMigrations();
  if (missing.length > 0) return `migrate will apply ${missing.join(", ")}`;
  const known = new Set(
    settings
      .SEALING_KEYS?.()
      .split(",")
      .map((entry) => entry.trim().split(":")[0]),
  );
  for (const column of sealedColumns) {
    const unknown = (await sealingKeyIds(database, column)).filter((id) => !known.has(id));
    if (unknown.length > 0) {
      throw new StartError(
        `SEALING_KEYS lacks ${unknown.join(", ")}, which encrypt values of ${column.table}`,
      );
    }
  }
  return undefined;
}

async function natsOf(config: NatsConfig): Promise<string | undefined> {
  await using nats = connectNats({ ...natsOptions(config), name: "preflight" });
  const end = Date.now() + NATS_MS;
  const attempts = Number.POSITIVE_INFINITY;
  const isRetryable = () => Date.now() < end;
  await withRetry({ attempts, isRetryable, pauseMs: () => 100 }, () => nats.ready());
  return undefined;
}
