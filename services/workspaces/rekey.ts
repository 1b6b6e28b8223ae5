import { createSealer, openDatabase } from "@statehouse/postgres";
import { createLogger, readConfig, runCommand } from "@statehouse/runtime";
import { configSchema } from "./config.ts";
import { entities } from "./store/entities.ts";
import { migrations } from "./store/migrations.ts";
import { resealSshKeys } from "./store/ssh-key.ts";

// Seals every SSH key under the first of SEALING_KEYS; the other keys may go afterwards.
await runCommand("Sealing again", async (print) => {
  const needed = configSchema.pick({ DATABASE_URL: true, SEALING_KEYS: true });
  const { DATABASE_URL: url, SEALING_KEYS: keys } = readConfig(needed);
  const logger = createLogger({ service: "workspaces" });
  await using database = await openDatabase({
    contextName: "workspaces",
    url,
    entities,
    migrations,
    logger,
  });
  const resealed = await resealSshKeys(database, createSealer({ keys }));
  print(`sealed ${resealed} values again`);
});
