import {
  grpcTlsSettings,
  natsSettings,
  portSetting,
  secondsSetting,
  settings,
  stopSettings,
} from "@statehouse/runtime";
import { z } from "zod";

/** The environment variables of the access service. */
export const configSchema = z.object({
  LOG_LEVEL: settings.LOG_LEVEL,
  LOG_FORMAT: settings.LOG_FORMAT,
  DATABASE_URL: settings.DATABASE_URL,
  DATABASE_POOL_SIZE: settings.DATABASE_POOL_SIZE,
  DATABASE_POOLING: settings.DATABASE_POOLING,
  ...natsSettings,
  HOST: settings.HOST,
  GRPC_PORT: portSetting(9101, "gRPC"),
  OPS_PORT: portSetting(9201, "health, readiness and metrics"),
  ...stopSettings,
  AUDIT_RETENTION_DAYS: settings.AUDIT_RETENTION_DAYS,
  ...grpcTlsSettings,
  ASSERTION_PRIVATE_KEY: settings.ASSERTION_PRIVATE_KEY,
  ASSERTION_PUBLIC_KEYS: settings.ASSERTION_PUBLIC_KEYS,
  WORKSPACES_ADDRESS: settings.WORKSPACES_ADDRESS,
  RUN_TOKEN_LIFETIME: secondsSetting
    .default(24 * 60 * 60)
    .describe("Lifetime of a run token in seconds, unless its runner renews it or the run ends."),
  FIRST_ADMIN_USERNAME: z
    .string()
    .optional()
    .describe("User whom the migrate command makes an administrator if the installation has none."),
  FIRST_ADMIN_EMAIL: z
    .string()
    .optional()
    .describe("E-mail address of the user that FIRST_ADMIN_USERNAME names."),
  TOKEN_MAX_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(36_500)
    .optional()
    .describe("Maximum lifetime of a new token in days; unlimited if not set."),
});

export type AccessConfig = z.infer<typeof configSchema>;
