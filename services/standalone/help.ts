import { configSchema as accessConfig } from "@statehouse/access/config";
import { configSchema as gatewayConfig } from "@statehouse/gateway/config";
import { describeConfig, natsSettings, stopSettings } from "@statehouse/runtime";
import { configSchema as stateConfig } from "@statehouse/state/config";
import { configSchema as workspacesConfig } from "@statehouse/workspaces/config";
import { z } from "zod";
import { standaloneSchema } from "./config.ts";

/** Settings that operators cannot set, because standalone sets them for its services. */
const decided = {
  DATABASE_URL: true,
  ...natsSettings,
  ...stopSettings,
  GRPC_PORT: true,
  OPS_PORT: true,
  OBJECT_PORT: true,
  ASSERTION_PRIVATE_KEY: true,
  ASSERTION_PUBLIC_KEYS: true,
  ACCESS_ADDRESS: true,
  WORKSPACES_ADDRESS: true,
  STATE_ADDRESS: true,
  STATE_OBJECT_URL: true,
  UPLOAD_TOKEN_KEYS: true,
  SEALING_KEYS: true,
};

/** Returns the lines of the help text that describe the settings of standalone and of its services. */
export function helpLines(): string[] {
  const fields = [accessConfig, stateConfig, workspacesConfig, gatewayConfig]
    .flatMap((schema) => Object.entries<z.core.$ZodType>(schema.shape))
    .filter(([name]) => !(name in decided));
  const shape = { ...Object.fromEntries(fields), ...standaloneSchema.shape };
  return ["Settings come from the environment:", ...describeConfig(z.object(shape))];
}
