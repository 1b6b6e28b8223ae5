import path from "node:path";
import { migrations as access } from "@statehouse/access/migrations";
import { createLocalBus } from "@statehouse/events";
import {
  claimAlone,
  findProgram,
  type Postgres,
  startNats,
  startPostgres,
} from "@statehouse/local-services";
import { migrate, type SqlMigration } from "@statehouse/postgres";
import { createIdentity } from "@statehouse/rpc";
import {
  createLogger,
  deadlinesOf,
  grpcTlsSettings,
  readConfig,
  type Stoppable,
  startOpsServer,
  watchSettings,
} from "@statehouse/runtime";
import { startGrpcTls } from "@statehouse/service";
import { migrations as state } from "@statehouse/state/migrations";
import { migrations as workspaces } from "@statehouse/workspaces/migrations";
import { z } from "zod";
import { compose } from "./compose.ts";
import type { StandaloneConfig } from "./config.ts";
import { natsUser, openDataDirectory, openSecrets } from "./data-directory.ts";
import { blobsIn, serviceEnvironments } from "./environments.ts";
import { firstStart, type Welcome } from "./first-start.ts";
import { listen } from "./listener.ts";
import { openRunnerTls, writeRunnerSettings } from "./runner-access.ts";

export interface Standalone extends Stoppable, Welcome {
  /** The address for clients. */
  url: string;
  /** The address of health, readiness and metrics. It can be reached from this machine only. */
  operationsUrl: string;
  /** Whether NATS runs. Events are published to other programs only if it does. */
  publishesEvents: boolean;
  /** The file with the settings of a runner; undefined without RUNNER_PORT. */
  runnerFile: string | undefined;
}

/**
 * Starts PostgreSQL, NATS if this machine has it, and the four services on one address. `settings` are the operator's
 * settings for all services. Throws `StartError` and `ConfigError`, whose messages are complete sentences.
 */
export async function startStandalone(
  config: StandaloneConfig,
  settings: Readonly<Record<string, string | undefined>>,
): Promise<Standalone> {
  await using starting = new AsyncDisposableStack();
  const folder = config.DATA_DIR;
  await openDataDirectory(folder);
  // Without this claim, two concurrent starts would each create secrets, and two NATS servers would write to the same
  // files.
  starting.use(claimAlone(folder));
  // Opened first, so that a port in use is detected before anything else is started.
  const listener = await listen(config.HOST, config.PORT, deadlinesOf(config));
  starting.use(listener);
  const stopping = new AbortController();
  const operations = starting.use(
    await startOpsServer({ host: "127.0.0.1", port: config.OPS_PORT }),
  );
  const secrets = await openSecrets(folder);
  const servers = [
    startPostgres({ dataDirectory: path.join(folder, "postgres") }),
    findProgram("nats-server")
      ? startNats({
          dataDirectory: path.join(folder, "nats"),
          port: config.NATS_PORT,
          login: { user: natsUser, password: secrets.natsPassword },
        })
      : undefined,
  ] as const;
  // If one server does not start, the other one is stopped.
  for (const start of await Promise.allSettled(servers)) {
    if (start.status === "fulfilled") starting.use(start.value);
  }
  const [postgres, nats] = await Promise.all(servers);
  const databases = {
    access: await openDatabase(postgres, "access", access),
    workspaces: await openDatabase(postgres, "workspaces", workspaces),
    state: await openDatabase(postgres, "state", state),
  };
  const nowhere = "127.0.0.1:1";
  const url = config.PUBLIC_URL ?? listener.url;
  const environments = serviceEnvironments({
    secrets,
    databaseUrl: (service) => databases[service],
    natsUrl: nats?.url ?? `nats://${nowhere}`,
    natsLogin: { user: natsUser, password: secrets.natsPassword },
    publicUrl: url,
    objectUrl: listener.url,
    addresses: { access: nowhere, workspaces: nowhere, state: nowhere },
    // Standalone has a single NATS server with one user. Regardless of the operator's settings, the stream has one
    // replica, and no subscriber has an account of its own.
    settings: { ...blobsIn(folder), ...settings, STREAM_REPLICAS: "1", EVENT_SUBSCRIBERS: "" },
  });
  const { LOG_LEVEL: level, LOG_FORMAT: format } = config;
  const logger = createLogger({ service: "standalone", level, format });
  const composition = starting.use(
    await compose(environments, logger, nats ? undefined : createLocalBus()),
  );
  let runnerFile: string | undefined;
  if (config.RUNNER_PORT !== undefined) {
    const found = await openRunnerTls(folder, settings);
    const tlsConfig = readConfig(z.object(grpcTlsSettings), found.port);
    const tls = startGrpcTls(tlsConfig, logger, starting);
    starting.use(watchSettings(tlsConfig, { logger, files: [tls] }));
    const host = "127.0.0.1";
    const { port } = await composition.listenForRunners({ host, port: config.RUNNER_PORT, tls });
    runnerFile = await writeRunnerSettings(folder, {
      address: `${host}:${port}`,
      key: secrets.assertionKeys.runner ?? "",
      tls: found.runner,
    });
  }
  // The listener is registered a second time, so that it is closed before the services. Closing it again later has no
  // effect.
  starting.use(listener);
  listener.serve(composition.handler);
  operations.started({ ...composition.operations, stopping: stopping.signal });
  const identity = await createIdentity(
    "standalone",
    JSON.parse(secrets.assertionKeys.standalone ?? "null"),
  );
  const welcome = await firstStart({
    config,
    url: listener.url,
    access: composition.access,
    identity,
  });
  const started = starting.move();
  return {
    url,
    operationsUrl: `http://127.0.0.1:${operations.port}`,
    publishesEvents: nats !== undefined,
    runnerFile,
    ...welcome,
    drain: async () => stopping.abort(),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/**
 * Creates the database of a service if it does not exist, and migrates it as the superuser. Returns a URL that connects
 * to the database as a separate user, who is allowed only to read and write the rows of this database.
 */
async function openDatabase(
  postgres: Postgres,
  contextName: string,
  migrations: readonly SqlMigration[],
): Promise<string> {
  const name = `statehouse_${contextName}`;
  await postgres.createDatabases([name]);
  const url = await postgres.admit(name, name);
  await migrate({ url: postgres.url(name), contextName, migrations, grantTo: name });
  return url;
}
