import { type Database, openDatabase } from "@statehouse/postgres";
import { type Changing, createLogger, type Logger, StartError } from "@statehouse/runtime";
import type { z } from "zod";
import { blobStoreSettings, configSchema } from "./config.ts";
import { migrations } from "./migrations.ts";
import { entities } from "./nouns.ts";
import { openBlobStore } from "./object/open-store.ts";
import type { BlobStore } from "./object/store.ts";

/** The settings that commands need to compare the database with the store, or to move bytes between stores. */
export const contentSettings = configSchema
  .pick({ DATABASE_URL: true, SWEEP_GRACE: true, BLOB_DELETION_DELAY: true })
  .extend(blobStoreSettings.shape);

/** Opens the service's database for a command that may run while the service runs. Does not wait for the database. */
export const openOperatorDatabase = (url: Changing<string>, logger: Logger): Promise<Database> =>
  openDatabase({
    contextName: "state",
    url,
    pooling: "transaction",
    entities,
    migrations,
    logger,
  });

/** Throws `StartError` with the reason why the store cannot be used. */
export async function requireReady(store: BlobStore): Promise<void> {
  await store.ready().catch((error: Error) => {
    throw new StartError(error.message);
  });
}

/**
 * Opens the database and the store for a command that reads both and may run while the service runs. `stack` closes
 * them. Throws `StartError` if one of them cannot be used.
 */
export async function openContents(
  config: z.infer<typeof contentSettings>,
  stack: AsyncDisposableStack,
): Promise<{ database: Database; store: BlobStore }> {
  const logger = createLogger({ service: "state", level: "silent" });
  const database = stack.use(await openOperatorDatabase(config.DATABASE_URL, logger));
  await database.ready().catch((error: Error) => {
    throw new StartError(`The database cannot be used: ${error.message}`);
  });
  const store = stack.use(await openBlobStore(config, logger, { beside: true }));
  await requireReady(store);
  return { database, store };
}

/** Returns a signal that is aborted with `message` when the operator interrupts the command. */
export function interruption(message: string): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => interrupted.abort(new StartError(message)));
  }
  return interrupted.signal;
}
