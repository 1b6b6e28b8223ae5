import { migrate } from "@statehouse/postgres";
import { ConfigError, readConfig } from "@statehouse/runtime";
import { configSchema } from "./config.ts";
import { migrations } from "./store/migrations.ts";

try {
  const { DATABASE_URL: url } = readConfig(configSchema.pick({ DATABASE_URL: true }));
  const applied = await migrate({ url, contextName: "workspaces", migrations });
  process.stdout.write(applied.map((name) => `applied ${name}\n`).join("") || "nothing to apply\n");
} catch (error) {
  const known = error instanceof ConfigError;
  process.stderr.write(`${known ? error.message : `Migrating failed: ${String(error)}`}\n`);
  process.exitCode = 1;
}
