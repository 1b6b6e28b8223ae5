import { replayConsumptions } from "@statehouse/events";
import { openDatabase } from "@statehouse/postgres";
import { createLogger, readConfig, runCommand } from "@statehouse/runtime";
import { configSchema } from "./config.ts";
import { consumptions } from "./consumers/consumptions.ts";
import { entities } from "./store/entities.ts";
import { migrations } from "./store/migrations.ts";
import { readsOf } from "./store/reads.ts";

// Handles again the events that were put away after failing too often. Exit 1 while some still fail.
await runCommand("Replaying", async (print) => {
  const service = "access";
  const config = readConfig(configSchema);
  const logger = createLogger({ service, level: config.LOG_LEVEL });
  const { DATABASE_URL: url } = config;
  await using database = await openDatabase({
    contextName: service,
    url,
    entities,
    migrations,
    logger,
  });
  const listening = consumptions({ reads: readsOf(database) });
  const work = { database, service, consumptions: listening, print };
  if (!(await replayConsumptions(work))) process.exitCode = 1;
});
