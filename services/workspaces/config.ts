import {
  grpcTlsSettings,
  keyRingSetting,
  natsSettings,
  portSetting,
  secondsSetting,
  settings,
  stopSettings,
} from "@statehouse/runtime";
import { z } from "zod";
import { engineReleases } from "./engine-version/releases-domain.ts";

const RELEASE = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

/** The environment variables of the workspaces service. */
export const configSchema = z.object({
  LOG_LEVEL: settings.LOG_LEVEL,
  LOG_FORMAT: settings.LOG_FORMAT,
  DATABASE_URL: settings.DATABASE_URL,
  DATABASE_POOL_SIZE: settings.DATABASE_POOL_SIZE,
  DATABASE_POOLING: settings.DATABASE_POOLING,
  ...natsSettings,
  EDITION: settings.EDITION,
  HOST: settings.HOST,
  GRPC_PORT: portSetting(9102, "gRPC"),
  OPS_PORT: portSetting(9202, "health, readiness and metrics"),
  ...stopSettings,
  AUDIT_RETENTION_DAYS: settings.AUDIT_RETENTION_DAYS,
  ...grpcTlsSettings,
  ASSERTION_PRIVATE_KEY: settings.ASSERTION_PRIVATE_KEY,
  ASSERTION_PUBLIC_KEYS: settings.ASSERTION_PUBLIC_KEYS,
  ACCESS_ADDRESS: settings.ACCESS_ADDRESS,
  STATE_ADDRESS: settings.STATE_ADDRESS,
  SEALING_KEYS: keyRingSetting({ bytes: 32 }).describe(
    "Keys that encrypt SSH keys, 32 bytes each.",
  ),
  // The mode `agent` is not offered: it requires an agent pool, and a new organization has none.
  DEFAULT_EXECUTION_MODE: z
    .enum(["local", "remote"])
    .default("local")
    .describe("Execution mode of new organizations: local or remote."),
  ENGINE_VERSIONS: z
    .string()
    .default(engineReleases.join(","))
    .transform((text) => text.split(",").map((version) => version.trim()))
    .refine((versions) => versions.every((version) => RELEASE.test(version)), {
      error: "is not a list of versions such as 1.11.0",
    })
    .describe("Known engine releases, comma-separated; new workspaces start with the newest."),
  COMPARISON_INTERVAL: secondsSetting
    .default(600)
    .describe(
      "Seconds between comparisons of all workspaces with the state service, which find lost events.",
    ),
});

export type WorkspacesConfig = z.infer<typeof configSchema>;
