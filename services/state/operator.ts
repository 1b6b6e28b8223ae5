import { type Database, openDatabase } from "@statehouse/postgres";
import { createIdentity, grpcChannel } from "@statehouse/rpc";
import { createLogger, type Logger, StartError } from "@statehouse/runtime";
import type { App } from "./app/app.ts";
import { configSchema, type StateConfig } from "./config.ts";
import { type AppParts, createApp } from "./create-app.ts";
import type { BlobStore } from "./objects/blob-store.ts";
import { entities } from "./store/entities.ts";
import { migrations } from "./store/migrations.ts";

/** What a command needs to compare or move rows and bytes. */
export const contentSettings = configSchema.pick({
  DATABASE_URL: true,
  SWEEP_GRACE: true,
  BLOB_STORE: true,
  BLOB_DIRECTORY: true,
  BLOB_MOVING_FROM: true,
  S3_ENDPOINT: true,
  S3_BUCKET: true,
  S3_REGION: true,
  S3_ACCESS_KEY: true,
  S3_SECRET_KEY: true,
  S3_ADDRESSING: true,
  S3_CA_FILE: true,
});

/** The service's database, opened by a command beside it. */
export const openOperatorDatabase = (url: string, logger: Logger): Promise<Database> =>
  openDatabase({ contextName: "state", url, entities, migrations, logger });

/** The service's use cases, in a command beside it. Neighbours that are not given are found by their addresses. */
export async function openOperatorApp(
  config: StateConfig,
  given?: AppParts["channels"],
): Promise<{ app: App; database: Database } & AsyncDisposable> {
  const { DATABASE_URL, LOG_LEVEL: level, ACCESS_ADDRESS, WORKSPACES_ADDRESS } = config;
  const logger = createLogger({ service: "state", level });
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await openOperatorDatabase(DATABASE_URL, logger));
  const channels = given ?? {
    access: opening.use(grpcChannel({ address: ACCESS_ADDRESS, audience: "access" })),
    workspaces: opening.use(grpcChannel({ address: WORKSPACES_ADDRESS, audience: "workspaces" })),
  };
  const identity = await createIdentity("state", config.ASSERTION_PRIVATE_KEY);
  const { app } = createApp(config, { database, channels, identity, logger });
  const opened = opening.move();
  return { app, database, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Throws `StartError` with what an operator has to mend. */
export async function requireReady(store: BlobStore): Promise<void> {
  await store.ready().catch((error: Error) => {
    throw new StartError(error.message);
  });
}

/** Aborted with `message` when the operator interrupts the command. */
export function interruption(message: string): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => interrupted.abort(new StartError(message)));
  }
  return interrupted.signal;
}
