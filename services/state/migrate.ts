import { migrate } from "@statehouse/postgres";
import { readConfig, runCommand } from "@statehouse/runtime";
import { configSchema } from "./config.ts";
import { migrations } from "./store/migrations.ts";

await runCommand("Migrating", async (print) => {
  const { DATABASE_URL: url } = readConfig(configSchema.pick({ DATABASE_URL: true }));
  const applied = await migrate({ url, contextName: "state", migrations });
  for (const name of applied) print(`applied ${name}`);
  if (applied.length === 0) print("nothing to apply");
});
