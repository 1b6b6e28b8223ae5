import { migrate } from "@statehouse/postgres";
import { readConfig, runCommand } from "@statehouse/runtime";
import { ensureAdministrator } from "./app/user.ts";
import { configSchema } from "./config.ts";
import { openOperatorApp } from "./operator.ts";
import { migrations } from "./store/migrations.ts";

await runCommand("Migrating", async (print) => {
  const needed = configSchema.pick({
    DATABASE_URL: true,
    FIRST_ADMIN_USERNAME: true,
    FIRST_ADMIN_EMAIL: true,
  });
  const config = readConfig(needed);
  const { DATABASE_URL: url, FIRST_ADMIN_USERNAME: username, FIRST_ADMIN_EMAIL: email } = config;
  const applied = await migrate({ url, contextName: "access", migrations });
  for (const name of applied) print(`applied ${name}`);
  if (applied.length === 0) print("nothing to apply");
  if (username !== undefined && email !== undefined) {
    await using opened = await openOperatorApp(url);
    const made = await ensureAdministrator(opened.app, { username, email });
    if (made) print(`${made.username} administers the installation`);
  }
});
