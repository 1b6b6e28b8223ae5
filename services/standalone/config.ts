import path from "node:path";
import { z } from "zod";

/** What standalone itself is told; the services' own settings are passed on as they are. */
export const standaloneSchema = z.object({
  HOST: z.string().default("127.0.0.1").describe("Address to listen on."),
  PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(8080)
    .describe("Port to listen on; 0 takes any free one."),
  DATA_DIR: z
    .string()
    .default(".statehouse")
    .transform((folder) => path.resolve(folder))
    .describe("Folder for the database, state, secrets and the CLI configuration file."),
  PUBLIC_URL: z
    .url()
    .optional()
    .describe("Address that clients use, when it is not the one listened on."),
  ORGANIZATION: z
    .string()
    .default("demo")
    .describe("Name of the organization made at the first start."),
  ADMIN_USERNAME: z
    .string()
    .default("admin")
    .describe("Name of the user made at the first start, who owns that organization."),
  ADMIN_EMAIL: z.string().default("admin@example.com").describe("That user's e-mail address."),
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("warn")
    .describe("Lines below this level are left out of the log."),
});

export type StandaloneConfig = z.infer<typeof standaloneSchema>;
