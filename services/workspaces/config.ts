import { portSetting, settings } from "@statehouse/runtime";
import { z } from "zod";

/** The environment of the service workspaces. */
export const configSchema = z.object({
  LOG_LEVEL: settings.LOG_LEVEL,
  DATABASE_URL: settings.DATABASE_URL,
  NATS_URL: settings.NATS_URL,
  HOST: settings.HOST,
  GRPC_PORT: portSetting(9102, "gRPC"),
  OPS_PORT: portSetting(9202, "health, readiness and metrics"),
  ASSERTION_PRIVATE_KEY: settings.ASSERTION_PRIVATE_KEY,
  ASSERTION_PUBLIC_KEYS: settings.ASSERTION_PUBLIC_KEYS,
  ACCESS_ADDRESS: settings.ACCESS_ADDRESS,
  STATE_ADDRESS: settings.STATE_ADDRESS,
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
