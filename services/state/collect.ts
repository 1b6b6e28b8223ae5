import { parseArgs } from "node:util";
import { openDatabase } from "@statehouse/postgres";
import { createIdentity, grpcChannel } from "@statehouse/rpc";
import { createLogger, readConfig, runCommand } from "@statehouse/runtime";
import { collectEverything } from "./app/collection-pass.ts";
import type { KeptReason } from "./app/retention-collection.ts";
import { configSchema } from "./config.ts";
import { createApp } from "./create-app.ts";
import { entities } from "./store/entities.ts";
import { migrations } from "./store/migrations.ts";

// Goes through all workspaces now and deletes what retention lets go. With --dry-run it names it only.
await runCommand("Collecting", async (print) => {
  const { values } = parseArgs({ options: { "dry-run": { type: "boolean", default: false } } });
  const dryRun = values["dry-run"];
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

  let [versions, bytes] = [0, 0];
  const kept = new Map<KeptReason, number>();
  await collectEverything(app, {
    dryRun,
    onBatch(collected, reasons) {
      for (const { id, workspaceId, rule, createdAt, bytes: size } of collected) {
        if (dryRun) print(`${workspaceId} ${id} ${createdAt.toISOString()} ${size} bytes, ${rule}`);
        bytes += size;
      }
      versions += collected.length;
      for (const reason of reasons) kept.set(reason, (kept.get(reason) ?? 0) + 1);
      if (!dryRun) print(`deleted ${versions} versions, ${bytes} bytes`);
    },
  });
  const what = `${versions} versions, ${bytes} bytes of state`;
  print(dryRun ? `would delete ${what}` : `deleted in all ${what}`);
  for (const [reason, count] of kept) print(`kept ${count}: ${reason}`);
});
