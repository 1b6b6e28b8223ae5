import { replayConsumptions } from "@statehouse/events";
import { openDatabase } from "@statehouse/postgres";
import { ConfigError, createLogger, readConfig } from "@statehouse/runtime";
import { configSchema } from "./config.ts";
import { consumptions } from "./consumers/consumptions.ts";
import { entities } from "./store/entities.ts";
import { migrations } from "./store/migrations.ts";
import { readsOf } from "./store/reads.ts";

// Handles again the events that were put away after failing too often. Exit 1 while some still fail.
try {
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
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const listening = consumptions({ reads: readsOf(database) });
  const work = { database, service, consumptions: listening, print };
  if (!(await replayConsumptions(work))) process.exitCode = 1;
} catch (error) {
  const known = error instanceof ConfigError;
  process.stderr.write(`${known ? error.message : `Replaying failed: ${String(error)}`}\n`);
  process.exitCode = 1;
}
