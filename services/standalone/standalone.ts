import path from "node:path";
import { migrations as access } from "@statehouse/access/store/migrations";
import { createLocalBus } from "@statehouse/events";
import { claimAlone, findProgram, startNats, startPostgres } from "@statehouse/local-services";
import { migrate } from "@statehouse/postgres";
import { createIdentity } from "@statehouse/rpc";
import {
  createLogger,
  deadlinesOf,
  grpcTlsSettings,
  readConfig,
  type Stoppable,
  startOpsServer,
} from "@statehouse/runtime";
import { startGrpcTls } from "@statehouse/service";
import { migrations as state } from "@statehouse/state/store/migrations";
import { migrations as workspaces } from "@statehouse/workspaces/store/migrations";
import { z } from "zod";
import { compose } from "./compose.ts";
import type { StandaloneConfig } from "./config.ts";
import { natsUser, openDataDirectory, openSecrets } from "./data-directory.ts";
import { blobsIn, serviceEnvironments, serviceNames } from "./environments.ts";
import { firstStart, type Welcome } from "./first-start.ts";
import { listen } from "./listener.ts";

export interface Standalone extends Stoppable, Welcome {
  /** The address for clients. */
  url: string;
  /** The address of health, readiness and metrics. It can be reached from this machine only. */
  operationsUrl: string;
  /** Whether NATS runs. Only then are events published to other programs. */
  publishesEvents: boolean;
}

/**
 * Starts PostgreSQL, NATS if this machine has it, and the four services on one address. `settings` are the operator's
 * settings for all services. Throws StartError and ConfigError, whose messages are complete sentences.
 */
export async function startStandalone(
  config: StandaloneConfig,
  settings: Readonly<Record<string, string | undefined>>,
): Promise<Standalone> {
  await using starting = new AsyncDisposableStack();
  const folder = config.DATA_DIR;
  await openDataDirectory(folder);
  // Two concurrent starts would each create secrets, and two NATS servers would write to the same store.
  starting.use(claimAlone(folder));
  // Opened first, so that a port in use is detected before anything else is started.
  const listener = await listen(config.HOST, config.PORT, deadlinesOf(config));
  starting.use(listener);
  const stopping = new AbortController();
  const operations = starting.use(
    await startOpsServer({ host: "127.0.0.1", port: config.OPS_PORT }),
  );
  const secrets = await openSecrets(folder, [...serviceNames, "standalone", "runner"]);
  const [postgres, nats] = await Promise.all([
    startPostgres({ dataDirectory: path.join(folder, "postgres") }),
    findProgram("nats-server")
      ? startNats({
          dataDirectory: path.join(folder, "nats"),
          port: config.NATS_PORT,
          login: { user: natsUser, password: secrets.natsPassword },
        })
      : undefined,
  ]);
  if (nats) starting.use(nats);
  starting.use(postgres);
  const databaseUrl = (service: string) => postgres.url(`statehouse_${service}`);
  await postgres.createDatabases(["access", "workspaces", "state"].map((s) => `statehouse_${s}`));
  for (const [contextName, migrations] of Object.entries({ access, workspaces, state })) {
    await migrate({ url: databaseUrl(contextName), contextName, migrations });
  }
  const nowhere = "127.0.0.1:1";
  const url = config.PUBLIC_URL ?? listener.url;
  const environments = serviceEnvironments({
    secrets,
    databaseUrl,
    natsUrl: nats?.url ?? `nats://${nowhere}`,
    natsLogin: { user: natsUser, password: secrets.natsPassword },
    publicUrl: url,
    objectUrl: listener.url,
    addresses: { access: nowhere, workspaces: nowhere, state: nowhere },
    // Standalone has a single NATS server, so the stream has one replica regardless of the operator's setting.
    settings: { ...blobsIn(folder), ...settings, STREAM_REPLICAS: "1" },
  });
  const logger = createLogger({ service: "standalone", level: config.LOG_LEVEL });
  const composition = starting.use(
    await compose(environments, logger, nats ? undefined : createLocalBus()),
  );
  if (config.RUNNER_PORT !== undefined) {
    const tls = startGrpcTls(readConfig(z.object(grpcTlsSettings), settings), logger, starting);
    await composition.listenForRunners({ host: "127.0.0.1", port: config.RUNNER_PORT, tls });
  }
  // Registered a second time, so that it is closed before the services. Closing it again later has no effect.
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
    ...welcome,
    drain: async () => stopping.abort(),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
