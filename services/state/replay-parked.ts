import { replayConsumptions } from "@statehouse/events";
import { openDatabase } from "@statehouse/postgres";
import { createIdentity, grpcChannel } from "@statehouse/rpc";
import { createLogger, readConfig, runCommand } from "@statehouse/runtime";
import { configSchema } from "./config.ts";
import { consumptions } from "./consumers/consumptions.ts";
import { createApp } from "./create-app.ts";
import { entities } from "./store/entities.ts";
import { migrations } from "./store/migrations.ts";

// Handles again the events that were put away after failing too often. Exit 1 while some still fail.
await runCommand("Replaying", async (print) => {
  const service = "state";
  const config = readConfig(configSchema);
  const logger = createLogger({ service, level: config.LOG_LEVEL });
  await using parts = new AsyncDisposableStack();
  const { DATABASE_URL: url, ACCESS_ADDRESS, WORKSPACES_ADDRESS } = config;
  const database = parts.use(
    await openDatabase({ contextName: service, url, entities, migrations, logger }),
  );
  const { app } = createApp(config, {
    database,
    channels: {
      access: parts.use(grpcChannel({ address: ACCESS_ADDRESS, audience: "access" })),
      workspaces: parts.use(grpcChannel({ address: WORKSPACES_ADDRESS, audience: "workspaces" })),
    },
    identity: await createIdentity(service, config.ASSERTION_PRIVATE_KEY),
    logger,
  });
  const work = { database, service, consumptions: consumptions(app), print };
  if (!(await replayConsumptions(work))) process.exitCode = 1;
});
