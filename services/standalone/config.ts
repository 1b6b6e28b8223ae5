import path from "node:path";
import { deadlineSettings, grpcTlsSettings, portSetting, settings } from "@statehouse/runtime";
import { z } from "zod";

/** The settings of standalone itself. Settings of the services are passed on unchanged. */
export const standaloneSchema = z.object({
  HOST: settings.HOST.default("127.0.0.1").describe("Address to listen on."),
  PORT: portSetting(8080, "the API and state bytes"),
  NATS_PORT: portSetting(0, "NATS on this machine, for subscribers"),
  RUNNER_PORT: portSetting(0, "gRPC on this machine, for the reports of runners")
    .unwrap()
    .optional()
    .describe(
      "Port for gRPC on this machine, for the reports of runners; not opened by default. A runner's settings are written to DATA_DIR/runner/settings.env.",
    ),
  GRPC_TLS: grpcTlsSettings.GRPC_TLS.describe("Mutual TLS of RUNNER_PORT; off only for trials."),
  GRPC_CA_FILE: z
    .string()
    .optional()
    .describe(
      "PEM file of the authorities that sign the runners' certificates; by default all certificates are created in DATA_DIR/runner.",
    ),
  GRPC_CERT_FILE: z
    .string()
    .optional()
    .describe(
      "PEM file of the server's certificate on RUNNER_PORT; it must contain the DNS name `workspaces`.",
    ),
  GRPC_KEY_FILE: z
    .string()
    .optional()
    .describe("PEM file of the private key of the certificate in GRPC_CERT_FILE."),
  OPS_PORT: portSetting(0, "health, readiness and metrics, on this machine only"),
  HEADERS_TIMEOUT: deadlineSettings.HEADERS_TIMEOUT,
  IDLE_TIMEOUT: deadlineSettings.IDLE_TIMEOUT,
  DATA_DIR: z
    .string()
    .default(".statehouse")
    .transform((folder) => path.resolve(folder))
    .describe("Folder for the database, state, secrets and the CLI configuration file."),
  PUBLIC_URL: settings.PUBLIC_URL.optional().describe(
    "The address that clients use, if it differs from the address on which the server listens.",
  ),
  ORGANIZATION: z
    .string()
    .default("demo")
    .describe("Name of the organization created at the first start."),
  ADMIN_USERNAME: z
    .string()
    .default("admin")
    .describe("Name of the user created at the first start; this user owns the organization."),
  ADMIN_EMAIL: z
    .string()
    .default("admin@example.com")
    .describe("E-mail address of the user that ADMIN_USERNAME names."),
  LOG_LEVEL: settings.LOG_LEVEL.default("warn").describe(
    "Lines below this level are omitted from the log.",
  ),
  LOG_FORMAT: settings.LOG_FORMAT,
});

export type StandaloneConfig = z.infer<typeof standaloneSchema>;
